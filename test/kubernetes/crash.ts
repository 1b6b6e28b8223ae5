import type { Cluster } from "./kubectl.ts";

/**
 * Ends the process of its own container without any handler, through Node's inspector. The kernel ignores a SIGKILL
 * that process 1 receives from inside its container, and deletion of a pod waits for its grace period.
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

/** Ends the process of one pod of a component at once. The container is then started again. */
export async function crash(cluster: Cluster, component: string): Promise<void> {
  const command = ["/usr/bin/node", "-e", script];
  // The command can end with its container.
  await cluster
    .kubectl("exec", `deployment/statehouse-${component}`, "--", ...command)
    .catch((error: unknown) => {
      if (!/exit code 137|not found|exit code 1\b/.test(String(error))) throw error;
    });
}
