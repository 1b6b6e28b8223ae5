import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { childEnvironment, sharedDependencies } from "@statehouse/testing";

type Environment = Record<string, string>;

/** Runs a `statehouse` command until it exits. The command has only the settings in `env`. */
export const statehouse = (args: readonly string[], env: Environment) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [sharedDependencies().program, ...args],
      { env: childEnvironment(env) },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

/** Starts a service, or a command that runs for a while, in a separate process. */
export const startService = (
  name: string,
  env: Environment,
  args: readonly string[] = [],
): ChildProcess =>
  spawn(process.execPath, [sharedDependencies().program, name, ...args], {
    env: childEnvironment(env),
    stdio: ["ignore", "pipe", "pipe"],
  });

/** Resolves when the process has exited. */
export async function exitOf(child: ChildProcess): Promise<{ code: unknown; stderr: string }> {
  let stderr = "";
  child.stderr?.on("data", (chunk) => {
    stderr += String(chunk);
  });
  const [code] = await once(child, "exit");
  return { code, stderr };
}

/** Returns the ports of a service, from the line that it logs. */
export async function portsOf(child: ChildProcess): Promise<{ grpc: number; ops: number }> {
  if (!child.stdout) throw new Error("The process has no output.");
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, grpc, ops } = JSON.parse(line);
    if (/^\w+ listens$/.test(msg)) {
      child.stdout.resume();
      return { grpc, ops };
    }
  }
  throw new Error("The process exited without listening.");
}
