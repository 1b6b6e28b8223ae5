import { spawn } from "node:child_process";
import { followProcess, waitFor } from "@statehouse/testing";

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
  const program = followProcess(child);
  const stop = async () => {
    // After SIGKILL, the workers of nginx would continue to run.
    child.kill("SIGTERM");
    await Promise.allSettled([program.exit]);
  };
  try {
    await waitFor(ready, { what: `${command} to be ready`, program });
  } catch (error) {
    await stop();
    throw error;
  }
  return { output: program.output, [Symbol.asyncDispose]: stop };
}
