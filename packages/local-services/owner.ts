import { spawnSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { StartError } from "@statehouse/runtime";
import { alive, hasCode } from "./lock.mjs";

/** Where a folder says whose it is. */
const ownerFile = (folder: string) => path.join(folder, "owner");

/** Writes down that this process uses `folder`, whoever did before. */
export function claim(folder: string): void {
  writeFileSync(ownerFile(folder), thisProcess(), { mode: 0o600 });
}

/**
 * Makes `folder` this process's until disposed; of several that ask at once, one gets it. A folder whose owner died
 * is taken over. Throws StartError where the owner lives.
 */
export function claimAlone(folder: string): Disposable {
  const file = ownerFile(folder);
  while (!take(file)) {
    const found = read(file);
    const owner = ifLiving(found);
    if (owner !== undefined && owner !== process.pid) throw inUse(folder, owner);
    setAside(file, found);
  }
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** The process that claimed the folder, if it lives. */
export const livingOwner = (folder: string): number | undefined =>
  ifLiving(read(ownerFile(folder)));

function ifLiving(claimed: string): number | undefined {
  const [pid, birth] = claimed.split(/ (.*)/);
  const owner = Number(pid);
  // A process id is used again, sooner or later; with the time of birth it is unique.
  return owner > 0 && alive(owner) && born(owner) === birth ? owner : undefined;
}

/** A folder that somebody else uses. */
export const inUse = (folder: string, owner: number) =>
  new StartError(
    `${folder} is in use by another Statehouse (process ${owner}); stop it, or set DATA_DIR to another folder.`,
  );

/** Link of a finished file: nobody may ever read a claim without its owner in it. */
function take(file: string): boolean {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, thisProcess(), { mode: 0o600 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw new StartError(`${file} cannot be made (${Reflect.get(Object(error), "code")}).`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a dead owner's claim, unless somebody was quicker: then that one's is put back. */
function setAside(file: string, dead: string): void {
  const aside = `${file}.abandoned.${process.pid}`;
  try {
    renameSync(file, aside);
    if (read(aside) !== dead) linkSync(aside, file);
  } catch {
    // Gone, or taken again: the next look at it tells.
  }
  rmSync(aside, { force: true });
}

const thisProcess = () => `${process.pid} ${born(process.pid)}`;

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

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
