import { spawnSync } from "node:child_process";
import {
  existsSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { StartError } from "@statehouse/runtime";
import { alive } from "./lock.mjs";

/** Writes down that this process runs the PostgreSQL of `dataDirectory`. */
export function claim(dataDirectory: string): void {
  writeFileSync(path.join(dataDirectory, "owner"), `${process.pid} ${born(process.pid)}`, {
    mode: 0o600,
  });
}

/**
 * Clears away what a process that died left in the cluster: a PostgreSQL that still runs is stopped, a
 * `postmaster.pid` whose process is gone (or whose id now belongs to a stranger) is removed. Throws StartError when
 * its owner lives: then this folder is in use.
 */
export async function clearLeftover(dataDirectory: string, cluster: string): Promise<void> {
  const file = path.join(cluster, "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
  const running = isPostmasterOf(pid, cluster);
  const owner = livingOwner(dataDirectory);
  // Our own, killed: that is a restart.
  if (owner !== undefined && (running || owner !== process.pid)) {
    throw new StartError(
      `${dataDirectory} is in use by another Statehouse (process ${owner}); stop it, or set DATA_DIR to another folder.`,
    );
  }
  if (running) await stop(pid);
  rmSync(file, { force: true });
}

/** Fast shutdown, as at any stop; by force only when that does not help. */
async function stop(pid: number): Promise<void> {
  const signals: NodeJS.Signals[] = ["SIGINT", "SIGQUIT", "SIGKILL"];
  for (const signal of signals) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < 20_000; waited += 50) {
      if (!alive(pid)) return;
      await pause(50);
    }
  }
}

function livingOwner(dataDirectory: string): number | undefined {
  const file = path.join(dataDirectory, "owner");
  if (!existsSync(file)) return undefined;
  const [pid, birth] = readFileSync(file, "utf8").split(/ (.*)/);
  const owner = Number(pid);
  // A process id is used again, sooner or later; with the time of birth it is unique.
  return alive(owner) && born(owner) === birth ? owner : undefined;
}

function born(pid: number): string {
  if (process.platform === "linux") {
    const stat = read(`/proc/${pid}/stat`);
    // Field 22; the name in field 2 may hold spaces and brackets.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  }
  if (process.platform === "win32") return "";
  return (
    spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() ?? ""
  );
}

function isPostmasterOf(pid: number, cluster: string): boolean {
  if (!(pid > 1) || !alive(pid)) return false;
  if (process.platform === "linux") {
    try {
      // Not the command line: that may say /proc/self/cwd.
      return (
        readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster) &&
        /postgres/.test(read(`/proc/${pid}/comm`))
      );
    } catch {
      return false;
    }
  }
  if (process.platform === "win32") return true;
  const command =
    spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout ?? "";
  return command.includes("postgres") && command.includes(cluster);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
