import { spawnSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { StartError } from "@statehouse/runtime";
import { alive, hasCode } from "./lock.mjs";

/** The file in a folder that names its owner. */
const ownerFile = (folder: string) => path.join(folder, "owner");

/** Records that this process uses `folder`, replacing any previous owner. */
export function claim(folder: string): void {
  writeFileSync(ownerFile(folder), thisProcess(), { mode: 0o600 });
}

/**
 * Claims `folder` for this process until disposed; only one of several concurrent claims succeeds. The claim of an
 * exited process is taken over. Throws StartError if the owner runs.
 */
export function claimAlone(folder: string): Disposable {
  const file = ownerFile(folder);
  while (!take(file)) {
    const found = read(file);
    const owner = ifAlive(found);
    if (owner !== undefined && owner !== process.pid) throw inUse(folder, owner);
    removeClaim(file, found);
  }
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** The process that claimed the folder, if it runs. */
export const liveOwner = (folder: string): number | undefined => ifAlive(read(ownerFile(folder)));

function ifAlive(claimed: string): number | undefined {
  const [pid, startTime] = claimed.split(/ (.*)/);
  const owner = Number(pid);
  // Process ids are reused; a process id together with a start time is unique.
  return owner > 0 && alive(owner) && startTimeOf(owner) === startTime ? owner : undefined;
}

/** The folder is in use by another process. */
export const inUse = (folder: string, owner: number) =>
  new StartError(
    `${folder} is in use by another Statehouse (process ${owner}); stop it, or set DATA_DIR to another folder.`,
  );

/** Links a complete file: a claim must never be readable before it names its owner. */
function take(file: string): boolean {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, thisProcess(), { mode: 0o600 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw new StartError(`${file} cannot be created (${Reflect.get(Object(error), "code")}).`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Removes the claim of an exited owner. If another process removed it first and claimed the folder, that claim is
 * restored.
 */
function removeClaim(file: string, stale: string): void {
  const aside = `${file}.abandoned.${process.pid}`;
  try {
    renameSync(file, aside);
    if (read(aside) !== stale) linkSync(aside, file);
  } catch {
    // The file was deleted or claimed again: the next check decides.
  }
  rmSync(aside, { force: true });
}

const thisProcess = () => `${process.pid} ${startTimeOf(process.pid)}`;

function startTimeOf(pid: number): string {
  if (process.platform === "linux") {
    const stat = read(`/proc/${pid}/stat`);
    // Field 22; the name in field 2 can contain spaces and brackets.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  }
  if (process.platform === "win32") return "";
  return (
    spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout?.trim() ?? ""
  );
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
