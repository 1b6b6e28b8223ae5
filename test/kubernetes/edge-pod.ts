import { readFile } from "node:fs/promises";
import path from "node:path";
import { reservePort } from "../stack/port.ts";
import type { Cluster } from "./kubectl.ts";
import { restrictedContainer, restrictedPod } from "./restricted.ts";

const PORT = 8080;
const source = path.resolve(import.meta.dirname, "../upgrade/edge.ts");

/**
 * The public address: a port of this machine, forwarded to a proxy in a pod of a separate namespace. The proxy takes
 * the place of an ingress controller.
 */
export interface Edge {
  url: string;
  /** The node on which the proxy's pod runs. */
  node: string;
}

/** Starts the proxy in the namespace of `edge`, for the Services of a release in the namespace of `cluster`. */
export async function startEdgePod(
  edge: Cluster,
  {
    cluster,
    image,
    disposing,
  }: { cluster: Cluster; image: string; disposing: AsyncDisposableStack },
): Promise<Edge> {
  const labels = { app: "edge" };
  const at = (service: string) => `http://statehouse-${service}.${cluster.namespace}:80`;
  await edge.apply([
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "edge" },
      data: { "edge.ts": await readFile(source, "utf8") },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "edge" },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...restrictedPod,
            containers: [
              {
                name: "edge",
                image,
                command: ["/usr/bin/node", "/edge/edge.ts"],
                args: [at("gateway"), at("state-objects"), String(PORT)],
                securityContext: { ...restrictedContainer, readOnlyRootFilesystem: true },
                readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
                volumeMounts: [{ name: "edge", mountPath: "/edge" }],
              },
            ],
            volumes: [{ name: "edge", configMap: { name: "edge" } }],
          },
        },
      },
    },
  ]);
  await edge.kubectl("rollout", "status", "deployment/edge", "--timeout=3m");
  const port = await reservePort();
  disposing.use(await edge.forward("edge", port, PORT));
  const node = "jsonpath={.items[0].spec.nodeName}";
  return {
    url: `http://127.0.0.1:${port}`,
    node: await edge.kubectl("get", "pods", "--selector=app=edge", `--output=${node}`),
  };
}
