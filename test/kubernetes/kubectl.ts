import { type ChildProcess, spawn } from "node:child_process";
import { runProgram } from "@statehouse/testing";

/** Runs a program and returns what it printed. Throws its output if it fails. */
export async function run(
  command: string,
  args: readonly string[],
  { input = "" }: { input?: string } = {},
): Promise<string> {
  const { code, output, stdout } = await runProgram(command, args, { input });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: exit code ${code}\n${output}`);
  return stdout;
}

/** Calls the API server of `KUBECONFIG`, in one namespace. */
export interface Cluster {
  readonly namespace: string;
  kubectl(...args: string[]): Promise<string>;
  apply(objects: readonly object[], ...options: string[]): Promise<void>;
  /** Opens `localPort` of this machine and forwards it to a port of one pod of a Deployment. */
  forward(deployment: string, localPort: number, port: number): Promise<AsyncDisposable>;
}

export function clusterOf(namespace: string): Cluster {
  const kubectl = (...args: string[]) => run("kubectl", ["--namespace", namespace, ...args]);
  return {
    namespace,
    kubectl,
    async apply(items, ...options) {
      const apply = ["--namespace", namespace, "apply", "--filename=-", ...options];
      await run("kubectl", apply, {
        input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
      });
    },
    forward: (deployment, localPort, port) => forward(namespace, deployment, localPort, port),
  };
}

async function forward(
  namespace: string,
  deployment: string,
  localPort: number,
  port: number,
): Promise<AsyncDisposable> {
  const target = [`deployment/${deployment}`, `${localPort}:${port}`];
  const child = spawn("kubectl", ["--namespace", namespace, "port-forward", ...target]);
  await new Promise<void>((resolve, reject) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk;
        if (output.includes("Forwarding from 127.0.0.1")) resolve();
      });
    }
    child.once("error", reject);
    child.once("close", () => reject(new Error(`kubectl port-forward ended:\n${output}`)));
  });
  return { [Symbol.asyncDispose]: () => ended(child) };
}

const ended = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("close", () => resolve());
    child.kill();
  });
