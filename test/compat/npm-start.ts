import { type ChildProcess, spawn } from "node:child_process";
import { waitFor } from "@statehouse/testing";
import { afterEach } from "vitest";

/** A process of `npm start`, or of a command beside it. */
export interface Started {
  output: () => string;
  /** Resolves with the exit code. */
  exit: Promise<number | null>;
  signal: (signal: NodeJS.Signals) => void;
}

export type Start = (env: Record<string, string>, ...args: string[]) => Started;

/** `npm start` without npm, or another command of the command line. Processes that a test leaves are stopped. */
export function useNpmStart(command = "start"): Start {
  let children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children) child.kill("SIGTERM");
    await Promise.all(
      children.map(
        (child) => child.exitCode ?? new Promise((resolve) => child.once("exit", resolve)),
      ),
    );
    children = [];
  });
  return (env, ...args) => {
    const child = spawn(process.execPath, ["services/cli/main.ts", command, ...args], {
      env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", PORT: "0", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk;
      });
    }
    return {
      output: () => output,
      exit: new Promise((resolve) => child.once("close", resolve)),
      signal: (signal) => child.kill(signal),
    };
  };
}

/** Waits until it serves; returns its address. */
export async function running(started: Started): Promise<string> {
  await Promise.race([
    waitFor(() => started.output().includes("Ctrl-C stops it")),
    started.exit.then(() => {
      throw new Error(`ended at its start:\n${started.output()}`);
    }),
  ]);
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(started.output()) ?? [];
  if (!url) throw new Error(`no address in:\n${started.output()}`);
  return url;
}
