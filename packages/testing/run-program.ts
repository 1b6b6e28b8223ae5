import { type SpawnOptions, spawn } from "node:child_process";
import { followProcess } from "./follow-process.ts";

/** How a program ended. */
export interface Outcome {
  code: number;
  /** Standard output and standard error together, in the order in which a terminal shows them. */
  output: string;
  stdout: string;
}

/** Runs a program until it ends, with `input` on standard input. Does not throw if the exit code is not zero. */
export async function runProgram(
  command: string,
  args: readonly string[],
  { input = "", ...options }: Omit<SpawnOptions, "stdio"> & { input?: string } = {},
): Promise<Outcome> {
  const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  // The process can exit before it has read its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  const { exit, output } = followProcess(child);
  return { code: await exit, output: output(), stdout };
}
