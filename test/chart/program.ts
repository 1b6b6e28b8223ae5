import { spawn } from "node:child_process";
import { once } from "node:events";
import { waitFor } from "@statehouse/testing";

/** A server that a test runs beside the services. */
export interface RunningProgram extends AsyncDisposable {
  /** Returns everything that it has printed. */
  output(): string;
}

/** Starts a program and waits until `ready` returns true. If the program ends before that, throws its output. */
export async function startProgram(
  command: string,
  args: readonly string[],
  ready: () => Promise<boolean>,
): Promise<RunningProgram> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const exit = once(child, "exit").catch(() => {});
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  }
  const running = () => child.pid !== undefined && child.exitCode === null;
  const stop = async () => {
    if (!running()) return;
    // After SIGKILL, the workers of nginx would continue to run.
    child.kill("SIGTERM");
    await exit;
  };
  try {
    await waitFor(async () => !running() || (await ready()), { what: `${command} to be ready` });
    if (!running()) throw new Error(`${command} ended:\n${printed}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { output: () => printed, [Symbol.asyncDispose]: stop };
}
