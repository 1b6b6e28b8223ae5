import { waitFor } from "@statehouse/testing";
import type { Cluster } from "./kubectl.ts";

/**
 * Ends the main process of its own container through Node's inspector, without running any handler. A signal cannot do
 * this, because the kernel ignores a SIGKILL that process 1 receives from inside its container. Deleting the pod cannot
 * either, because Kubernetes then waits for the grace period.
 */
const script = `
process._debugProcess(1);
const attach = async () => {
  const [target] = await (await fetch("http://127.0.0.1:9229/json/list")).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  socket.onclose = () => process.exit();
  socket.onopen = () => socket.send(JSON.stringify({
    id: 1, method: "Runtime.evaluate", params: { expression: "process.reallyExit(137)" },
  }));
};
const attempt = () => attach().catch(() => setTimeout(attempt, 50));
attempt();`;

/**
 * Ends the process of one pod of a component immediately; Kubernetes then starts the container again. Returns the time
 * at which the process ended, in ms since the epoch, rounded down to a second.
 */
export async function crash(cluster: Cluster, component: string): Promise<number> {
  const selector = `--selector=app.kubernetes.io/component=${component}`;
  const names = "--output=jsonpath={.items[*].metadata.name}";
  const [pod = ""] = (await cluster.kubectl("get", "pods", selector, names)).split(" ");
  const command = ["/usr/bin/node", "-e", script];
  // The command fails if the container ends before it.
  await cluster.kubectl("exec", pod, "--", ...command).catch((error: unknown) => {
    if (!/exit code 137|not found|exit code 1\b/.test(String(error))) throw error;
  });
  const last = "jsonpath={.status.containerStatuses[0].lastState.terminated.finishedAt}";
  const finishedAt = await waitFor(() => cluster.kubectl("get", "pod", pod, `--output=${last}`), {
    timeout: 60_000,
    what: `the container of ${pod} to be started again`,
  });
  return Date.parse(finishedAt);
}
