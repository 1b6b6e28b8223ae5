import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { StartError } from "@statehouse/runtime";
import { providePart } from "./parts.mjs";
import { stopWithUs } from "./watchdog.mjs";

/** How a local service is started, and how its readiness is detected. */
export interface PartCommand {
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Runs as this user (only root can set it). */
  user?: { uid: number; gid: number } | undefined;
  /** Receives its complete output. */
  logFile: string;
  /** The signal for a clean shutdown. */
  stopSignal: NodeJS.Signals;
  /** Called every few milliseconds until it returns true. */
  ready: (pid: number) => Promise<boolean> | boolean;
  startTimeoutMs?: number;
  /** Killed after this time. */
  stopTimeoutMs?: number;
}

/** A running local service. */
export interface PartProcess {
  readonly pid: number;
  /** Resolves when the process has exited for any reason. */
  readonly exited: Promise<void>;
  readonly running: boolean;
  /** Stops it cleanly; kills it if it does not react. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Starts a local service in a separate process group (this process handles Ctrl-C) and waits until it serves. Throws
 * StartError.
 */
export async function startPart(part: PartCommand): Promise<PartProcess> {
  const logged = existsSync(part.logFile) ? statSync(part.logFile).size : 0;
  const child = spawnPart(part);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  let running = true;
  exited.then(() => {
    running = false;
  });
  const process = partProcess(part, child, exited, () => running);
  const deadline = Date.now() + (part.startTimeoutMs ?? 60_000);
  while (!(running && child.pid && (await part.ready(child.pid)))) {
    if (!running)
      throw new StartError(`${part.name} did not start${lastWords(part.logFile, logged)}`);
    if (Date.now() > deadline) {
      await process.kill();
      throw new StartError(
        `${part.name} did not get ready in time${lastWords(part.logFile, logged)}`,
      );
    }
    await Promise.race([pause(10), exited]);
  }
  return process;
}

function spawnPart(part: PartCommand): ChildProcess {
  const log = openSync(part.logFile, "a", 0o600);
  try {
    const child = spawn(part.command, part.args, {
      env: part.env ?? {},
      ...(part.cwd === undefined ? {} : { cwd: part.cwd }),
      ...part.user,
      stdio: ["ignore", log, log],
      detached: true,
      windowsHide: true,
    });
    // A child that was not stopped must not keep this process running; the watchdog then stops it.
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function partProcess(
  part: PartCommand,
  child: ChildProcess,
  exited: Promise<void>,
  running: () => boolean,
): PartProcess {
  if (child.pid !== undefined) exited.then(stopWithUs(child.pid, part.stopSignal));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!running()) return;
    child.ref();
    child.kill(signal);
    const force = setTimeout(() => child.kill("SIGKILL"), part.stopTimeoutMs ?? 30_000);
    await exited;
    clearTimeout(force);
  };
  return {
    pid: child.pid ?? 0,
    exited,
    get running() {
      return running();
    },
    stop: () => end(part.stopSignal),
    kill: () => end("SIGKILL"),
  };
}

/** The child's own explanation: its last error since `from`, and the log file. */
export function lastWords(logFile: string, from = 0): string {
  const lines = existsSync(logFile)
    ? readFileSync(logFile)
        .subarray(from)
        .toString("utf8")
        .split("\n")
        .filter((line) => line.trim())
    : [];
  const line = lines.findLast((text) => /fatal|error|panic|\[FTL\]/i.test(text)) ?? lines.at(-1);
  return line ? `: ${line.trim().slice(0, 300)} (log: ${logFile})` : ` (log: ${logFile})`;
}

/** The program of the local service. Throws StartError that says what to install. */
export async function partBinary(name: Parameters<typeof providePart>[0]): Promise<string> {
  try {
    return await providePart(name);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error));
  }
}
