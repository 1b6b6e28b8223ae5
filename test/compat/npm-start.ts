import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import {
  childEnvironment,
  commandLine,
  type FollowedProcess,
  followProcess,
  waitFor,
} from "@statehouse/testing";
import { afterEach } from "vitest";

/** A process of `npm start`, or of a command that runs beside it. */
export interface Started extends FollowedProcess {
  signal: (signal: NodeJS.Signals) => void;
}

export type Start = (env: Record<string, string>, ...args: string[]) => Started;

/**
 * Returns a function that runs the program of `npm start`, or of another command, without npm. After each test, stops
 * the processes that still run.
 */
export function useNpmStart(command = "start"): Start {
  let programs: Started[] = [];
  afterEach(async () => {
    for (const program of programs) program.signal("SIGTERM");
    await Promise.all(programs.map(({ exit }) => exit));
    programs = [];
  });
  return (env, ...args) => {
    const child = spawn(process.execPath, ["services/cli/main.ts", command, ...args], {
      env: childEnvironment({ HOME: process.env.HOME ?? "", PORT: "0", ...env }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const program = started(child, (signal) => child.kill(signal));
    programs.push(program);
    return program;
  };
}

/** Runs npm itself, with everything that npm runs before a script. `cwd` is this repository by default. */
export function npm(args: readonly string[], env: NodeJS.ProcessEnv, cwd = "."): Started {
  const child = spawn("npm", args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    // A separate process group, which receives signals as the foreground group of a terminal would.
    detached: true,
  });
  return started(child, (signal) => void process.kill(-(child.pid ?? Number.NaN), signal));
}

function started(child: ChildProcess, signal: Started["signal"]): Started {
  return { ...followProcess(child), signal };
}

/**
 * Fills `folder` for use as the only entry of PATH: Node, npm, the shell that npm needs for scripts, and the Terraform
 * CLI.
 */
export async function barePath(folder: string, node = process.execPath): Promise<string> {
  await mkdir(folder);
  const programs = { node, npm: found("npm"), sh: found("sh"), terraform: commandLine() };
  for (const [name, file] of Object.entries(programs)) {
    await symlink(file, path.join(folder, name));
  }
  return folder;
}

/** Returns the path of a program on this machine's PATH. */
function found(name: string): string {
  const file = (process.env.PATH ?? "")
    .split(path.delimiter)
    .map((directory) => path.join(directory, name))
    .find(existsSync);
  if (!file) throw new Error(`${name} is not on PATH`);
  return realpathSync(file);
}

/** Waits at most `timeout` ms until the process serves requests; returns its address. */
export async function running(started: Started, timeout = 60_000): Promise<string> {
  const isRunning = () => started.output().includes("Ctrl-C stops it");
  await waitFor(isRunning, { timeout, what: "npm start", program: started });
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(started.output()) ?? [];
  if (!url) throw new Error(`no address in the output:\n${started.output()}`);
  return url;
}
