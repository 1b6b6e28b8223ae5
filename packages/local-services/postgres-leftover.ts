import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { alive } from "./lock.mjs";
import { inUse, livingOwner } from "./owner.ts";

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
    throw inUse(dataDirectory, owner);
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
