import { waitFor } from "@statehouse/testing";
import type { Cluster } from "./kubectl.ts";

/**
 * A script that ends the main process of its own container through Node's inspector, without running any handler. A
 * signal cannot do this, because the kernel ignores a SIGKILL that process 1 receives from inside its container. Nor
 * can the deletion of the pod, because Kubernetes then waits for the grace period. An exit would wait for worker
 * threads and for the inspector's client, while the kernel continues to accept connections.
 */
const script = `
process._debugProcess(1);
const attach = async () => {
  const [target] = await (await fetch("http://127.0.0.1:9229/json/list")).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  socket.onclose = () => process.exit();
  socket.onopen = () => socket.send(JSON.stringify({
    id: 1, method: "Runtime.evaluate", params: { expression: "process.abort()" },
  }));
};
const attempt = () => attach().catch(() => setTimeout(attempt, 50));
attempt();`;

/** The times between which a process ended, in ms since the epoch. */
export interface Crash {
  after: number;
  before: number;
}

/** Ends the process of one pod of a component immediately; Kubernetes then starts the container again. */
export async function crash(cluster: Cluster, component: string): Promise<Crash> {
  const selector = `--selector=app.kubernetes.io/component=${component}`;
  const names = "--output=jsonpath={.items[*].metadata.name}";
  const [pod = ""] = (await cluster.kubectl("get", "pods", selector, names)).split(" ");
  const command = ["/usr/bin/node", "-e", script];
  const after = Date.now();
  // The command ends with the container, and usually fails.
  await cluster.kubectl("exec", pod, "--", ...command).catch((error: unknown) => {
    if (!/exit code 137|not found|exit code 1\b/.test(String(error))) throw error;
  });
  const before = Date.now();
  const last = "jsonpath={.status.containerStatuses[0].lastState.terminated.finishedAt}";
  await waitFor(() => cluster.kubectl("get", "pod", pod, `--output=${last}`), {
    timeout: 60_000,
    what: `the container of ${pod} to be started again`,
  });
  return { after, before };
}
