import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { StartError } from "@statehouse/runtime";
import { alive, createWhole, readIfThere, removeAbandoned } from "./lock.mjs";

/** Returns the path of the file that names the owner of a folder. */
const ownerFile = (folder: string) => path.join(folder, "owner");

// Not proper-lockfile: it detects an owner that has exited only by the age of the lock, and does not name the owner.
/** Records that this process uses `folder`, replacing any previous owner. */
export function claim(folder: string): void {
  writeFileSync(ownerFile(folder), thisProcess(), { mode: 0o600 });
}

/**
 * Claims `folder` for this process until disposal. Only one of several processes succeeds. Takes over the claim of a
 * process that has exited. Throws StartError if another process that still runs has claimed the folder.
 */
export function claimAlone(folder: string): Disposable {
  const file = ownerFile(folder);
  while (!take(file)) {
    const found = readIfThere(file);
    const owner = ifAlive(found);
    if (owner !== undefined && owner !== process.pid) throw inUse(folder, owner);
    removeAbandoned(file, found);
  }
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** Returns the id of the process that claimed the folder; undefined if it no longer runs. */
export const liveOwner = (folder: string): number | undefined =>
  ifAlive(readIfThere(ownerFile(folder)));

function ifAlive(claimed: string): number | undefined {
  const [pid, startTime] = claimed.split(/ (.*)/);
  const owner = Number(pid);
  // The operating system reuses process ids, but a process id together with its start time is unique.
  return owner > 0 && alive(owner) && startTimeOf(owner) === startTime ? owner : undefined;
}

/** Creates the error for a folder that another process uses. */
export const inUse = (folder: string, owner: number) =>
  new StartError(
    `${folder} is in use by another process of Statehouse (${owner}); stop it, or set DATA_DIR to another folder.`,
  );

function take(file: string): boolean {
  try {
    return createWhole(file, thisProcess(), 0o600);
  } catch (error) {
    throw new StartError(`${file} cannot be created (${Reflect.get(Object(error), "code")}).`);
  }
}

const thisProcess = () => `${process.pid} ${startTimeOf(process.pid)}`;

function startTimeOf(pid: number): string {
  if (process.platform === "linux") {
    const stat = readIfThere(`/proc/${pid}/stat`);
    // The start time is field 22 of the file. The process name in field 2 is in parentheses, and can itself contain
    // spaces and parentheses.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  }
  if (process.platform === "win32") return "";
  return (
    spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() ?? ""
  );
}
