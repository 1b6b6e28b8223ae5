import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { StartError } from "@statehouse/runtime";
import { provideProgram } from "./programs.mjs";
import { stopWithUs } from "./watchdog.mjs";

/** How a local service is started, and how its readiness is detected. */
export interface ServerCommand {
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** The user that runs the process; only root can set it. */
  user?: { uid: number; gid: number } | undefined;
  /** The file that receives all output of the process. */
  logFile: string;
  /** The signal for a clean shutdown. */
  stopSignal: NodeJS.Signals;
  /** Called every few milliseconds until it returns true. */
  ready: (pid: number) => Promise<boolean> | boolean;
  startTimeoutMs?: number;
  /** Time for a clean shutdown; the process is killed afterwards. */
  stopTimeoutMs?: number;
}

/** A running process of a local service. */
export interface ServerProcess {
  readonly pid: number;
  readonly running: boolean;
  /** Stops the process cleanly; kills it if it does not exit within `stopTimeoutMs`. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

// Not execa: it does not stop a process of another group after SIGKILL of this one, which the watchdog does.
/**
 * Starts a local service in a separate process group, because Ctrl-C must reach only this process, and waits until the
 * service is ready. Throws StartError.
 */
export async function startProcess(server: ServerCommand): Promise<ServerProcess> {
  const { name, logFile, stopSignal, startTimeoutMs = 60_000, stopTimeoutMs = 30_000 } = server;
  const logged = existsSync(logFile) ? statSync(logFile).size : 0;
  const child = spawnProcess(server);
  let running = true;
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  }).then(() => {
    running = false;
  });
  if (child.pid !== undefined) exited.then(stopWithUs(child.pid, stopSignal));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!running) return;
    child.ref();
    child.kill(signal);
    const force = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    await exited;
    clearTimeout(force);
  };
  const deadline = Date.now() + startTimeoutMs;
  while (!(running && child.pid && (await server.ready(child.pid)))) {
    if (!running) throw new StartError(`${name} did not start${lastLogLine(logFile, logged)}`);
    if (Date.now() > deadline) {
      await end("SIGKILL");
      throw new StartError(`${name} was not ready in time${lastLogLine(logFile, logged)}`);
    }
    await Promise.race([pause(10), exited]);
  }
  return {
    pid: child.pid,
    get running() {
      return running;
    },
    stop: () => end(stopSignal),
    kill: () => end("SIGKILL"),
  };
}

function spawnProcess(server: ServerCommand): ChildProcess {
  const log = openSync(server.logFile, "a", 0o600);
  try {
    const child = spawn(server.command, server.args, {
      env: server.env ?? {},
      ...(server.cwd === undefined ? {} : { cwd: server.cwd }),
      ...server.user,
      stdio: ["ignore", log, log],
      detached: true,
      windowsHide: true,
    });
    // A child that was not stopped must not keep this process running. After this process has ended, the watchdog stops
    // the child.
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

/**
 * Returns the reason why the child failed: the last error in its log file since offset `from`, and the path of the log
 * file.
 */
function lastLogLine(logFile: string, from: number): string {
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

/** Returns the path of the local service's program. Throws a StartError that says what to install. */
export async function programPath(name: Parameters<typeof provideProgram>[0]): Promise<string> {
  try {
    return await provideProgram(name);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error));
  }
}
