import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { cacheFolder } from "./folders.mjs";

/**
 * Runs `work` while no other process on this machine runs it under the same name. A lock whose process has exited is
 * taken over, so that a killed `npm start` needs no cleanup.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @param {() => void} [onWait]
 * @returns {Promise<T>}
 */
export async function withLock(name, work, onWait = () => {}) {
  const folder = path.join(cacheFolder(), "locks");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${name}.lock`);
  for (let waited = false; !take(file); await pause(200)) {
    if (dropIfAbandoned(file)) continue;
    if (!waited) onWait();
    waited = true;
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Creates the lock as a hard link to a complete file. `open` with the flag `wx` would first create an empty file, but a
 * lock must never be readable before it contains the process id of its owner.
 * @param {string} file
 */
function take(file) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** @param {string} file */
function dropIfAbandoned(file) {
  const owner = read(file);
  if (owner === undefined || alive(Number(owner))) return false;
  const aside = `${file}.abandoned.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return false;
  }
  // If another process has taken over the lock between reading and renaming, its lock is restored.
  if (read(aside) !== owner) {
    try {
      linkSync(aside, file);
    } catch {}
  }
  rmSync(aside, { force: true });
  return true;
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Returns whether the process runs. A zombie process does not run.
 * @param {number} pid
 */
export function alive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
  return process.platform !== "linux" || !/^State:\s+[ZX]/m.test(read(`/proc/${pid}/status`) ?? "");
}

/** @param {unknown} error @param {string} code */
export function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
