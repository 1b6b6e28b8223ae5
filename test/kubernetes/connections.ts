import type { Cluster } from "./kubectl.ts";
import { restrictedContainer, restrictedPod } from "./restricted.ts";
import type { Stores } from "./stores.ts";

/** The TCP ports of each component's pods. */
const ports = {
  gateway: [8080, 9200],
  access: [9101, 9201],
  workspaces: [9102, 9202],
  state: [9103, 8081, 9203],
} as const;
type Component = keyof typeof ports;
const components: readonly Component[] = ["gateway", "access", "workspaces", "state"];

/** The addresses that each component may connect to; all other connections must be refused. */
const allowed: Readonly<Record<Component | "edge" | "outsider", readonly string[]>> = {
  gateway: ["access:9101", "workspaces:9102", "state:9103", "state:8081"],
  access: ["workspaces:9102", "postgres", "nats"],
  workspaces: ["access:9101", "state:9103", "postgres", "nats"],
  state: ["access:9101", "workspaces:9102", "postgres", "nats", "s3"],
  edge: ["gateway:8080", "state:8081"],
  outsider: [],
};

/** A script. For each argument `name=host:port`, prints the name if it can connect to the port. */
const probe = `
const { connect } = require("node:net");
for (const target of process.argv.slice(1)) {
  const [name, host, port] = target.split(/[=:]/);
  const socket = connect({ host, port, timeout: 3000 });
  socket.once("connect", () => { console.log(name); socket.destroy(); });
  socket.once("timeout", () => socket.destroy());
  socket.once("error", () => {});
}`;

const hostAndPort = (url: string) => {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port}`;
};

/**
 * Tries every connection from every component, from the pod that may call the public ports, and from a pod that belongs
 * to no component. Returns the connections that are open but should be closed, or closed but should be open, and the
 * number of connections that it tried.
 */
export async function examineConnections(
  cluster: Cluster,
  edge: Cluster,
  { stores, image }: { stores: Stores; image: string },
): Promise<{ wrong: string[]; tried: number }> {
  const fields = 'jsonpath={range .items[*]}{.metadata.name} {.status.podIP}{"\\n"}{end}';
  const podOf = async (component: Component) => {
    const selector = `--selector=app.kubernetes.io/component=${component}`;
    const running = "--field-selector=status.phase=Running";
    const pods = await cluster.kubectl("get", "pods", selector, running, `--output=${fields}`);
    const [name = "", ip = ""] = (pods.split("\n")[0] ?? "").split(" ");
    return { component, name, ip };
  };
  const pods = await Promise.all(components.map(podOf));
  const targets: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      pods.flatMap(({ component, ip }) =>
        ports[component].map((port) => [`${component}/${port}`, `${ip}:${port}`]),
      ),
    ),
    postgres: hostAndPort(stores.postgres),
    nats: hostAndPort(stores.nats.url),
    s3: hostAndPort(stores.s3.endpoint),
  };
  const callOf = (own: string) =>
    Object.entries(targets)
      .filter(([name]) => !name.startsWith(`${own}/`))
      .map(([name, address]) => `${name}=${address}`);
  const node = ["/usr/bin/node", "-e", probe, "--"];
  const opened = async (from: keyof typeof allowed): Promise<string[]> => {
    const pod = pods.find(({ component }) => component === from);
    const call = [...node, ...callOf(from)];
    if (pod) return (await cluster.kubectl("exec", pod.name, "--", ...call)).split("\n");
    if (from === "edge") {
      return (await edge.kubectl("exec", "deployment/edge", "--", ...call)).split("\n");
    }
    return (await runOutsider(cluster, image, call)).split("\n");
  };
  const wrong: string[] = [];
  let tried = 0;
  for (const from of [...components, "edge", "outsider"] as const) {
    const open = await opened(from);
    for (const target of callOf(from)) {
      const [name = ""] = target.split("=");
      // The chart's NetworkPolicies do not restrict connections from pods outside the chart to the stores.
      if ((from === "edge" || from === "outsider") && !name.includes("/")) continue;
      tried++;
      const should = allowed[from].includes(name.replace("/", ":"));
      if (open.includes(name) !== should) {
        wrong.push(`${from} to ${name} is ${should ? "closed" : "open"}`);
      }
    }
  }
  return { wrong, tried };
}

/** Runs a command in a pod of the release's namespace that belongs to no component; returns what it prints. */
async function runOutsider(
  cluster: Cluster,
  image: string,
  command: readonly string[],
): Promise<string> {
  await cluster.apply([
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "outsider" },
      spec: {
        restartPolicy: "Never",
        ...restrictedPod,
        containers: [
          {
            name: "outsider",
            image,
            command: command.slice(0, 1),
            args: command.slice(1),
            securityContext: restrictedContainer,
          },
        ],
      },
    },
  ]);
  const done = "--for=jsonpath={.status.phase}=Succeeded";
  await cluster.kubectl("wait", "pod/outsider", done, "--timeout=2m");
  const printed = await cluster.kubectl("logs", "outsider");
  await cluster.kubectl("delete", "pod", "outsider");
  return printed;
}
