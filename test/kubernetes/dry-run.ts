import { readFileSync } from "node:fs";
import { everything } from "../chart/everything.ts";
import { example, installations, manifests } from "../chart/examples.ts";
import { type KubernetesObject, minimal, rendered, template } from "../chart/helm.ts";
import type { Cluster } from "./kubectl.ts";

const withoutReferences = {
  serviceAccountName: "default",
  priorityClassName: undefined,
  runtimeClassName: undefined,
};

/**
 * Sends all objects of the examples, and of an installation that uses every value, to the API server, which validates
 * and admits them without storing them. Objects whose kind the cluster does not have are omitted; `unknown` lists these
 * kinds.
 */
export async function dryRun(cluster: Cluster): Promise<{ objects: number; unknown: string[] }> {
  const table = await cluster.kubectl("api-resources", "--no-headers");
  const served = new Set(
    table.split("\n").map((line) => {
      const [apiVersion, , kind] = line.trim().split(/\s+/).slice(-3);
      return `${apiVersion} ${kind}`;
    }),
  );
  const unknown = new Set<string>();
  const send = async (title: string, objects: readonly KubernetesObject[]) => {
    const items = objects.flatMap((object) => {
      const kind = `${object.apiVersion} ${object.kind}`;
      if (!served.has(kind)) {
        unknown.add(kind);
        return [];
      }
      const metadata = { ...object.metadata, namespace: cluster.namespace };
      // Removes the references of a Pod to other objects, because the API server would look up these objects. A
      // workload such as a Deployment keeps the references in its template, because a dry run does not create the pods
      // of a workload.
      const pod = object.kind === "Pod" && { spec: { ...object.spec, ...withoutReferences } };
      return [{ ...object, metadata, ...pod }];
    });
    if (items.length > 0) {
      await cluster.apply(items, "--dry-run=server").catch((cause: unknown) => {
        throw new Error(`The API server refuses ${title}: ${String(cause)}`, { cause });
      });
    }
    return items.length;
  };
  let sent = 0;
  const all = { ...installations, "everything.ts": () => [minimal, everything] };
  for (const [name, values] of Object.entries(all)) {
    const { code, output, errors } = await template(values());
    if (code !== 0) throw new Error(errors);
    sent += await send(name, rendered(output).objects);
  }
  for (const name of manifests) {
    sent += await send(name, rendered(readFileSync(example(name), "utf8")).objects);
  }
  return { objects: sent, unknown: [...unknown].toSorted() };
}
