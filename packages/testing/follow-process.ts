import type { ChildProcess } from "node:child_process";

/** A running program. */
export interface FollowedProcess {
  /** Standard output and standard error until now. */
  output(): string;
  running(): boolean;
  /** The exit code; -1 after a signal. Rejects if the program cannot be started. */
  exit: Promise<number>;
}

/** Collects the output of a process whose standard output and standard error are pipes. */
export function followProcess(child: ChildProcess): FollowedProcess {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  const exit = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? -1));
  });
  // Prevents an unhandled rejection if nothing awaits `exit`: `waitFor` reports a program that cannot be started.
  exit.catch(() => {});
  return {
    output: () => output,
    running: () => child.exitCode === null && child.signalCode === null,
    exit,
  };
}
