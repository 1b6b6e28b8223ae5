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
  for (let waited = false; !createWhole(file, String(process.pid)); await pause(200)) {
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
 * Creates a file with the owner's name; returns false if it exists. The file is a hard link to a complete file: `open`
 * with the flag `wx` would first create an empty file, but the file must never be readable before it names its owner.
 * @param {string} file
 * @param {string} owner
 * @param {number} [mode]
 */
export function createWhole(file, owner, mode) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, owner, { mode });
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
  const owner = readIfThere(file);
  if (owner === "" || alive(Number(owner))) return false;
  removeAbandoned(file, owner);
  return true;
}

/**
 * Removes the file of an owner that has exited. If another process has taken over in the meantime, restores the file of
 * that process.
 * @param {string} file
 * @param {string} owner
 */
export function removeAbandoned(file, owner) {
  const aside = `${file}.abandoned.${process.pid}`;
  try {
    renameSync(file, aside);
    if (readIfThere(aside) !== owner) linkSync(aside, file);
  } catch {
    // Another process deleted the file or took over; the caller checks again.
  }
  rmSync(aside, { force: true });
}

/**
 * Returns the content of a file; an empty string if it cannot be read.
 * @param {string} file
 */
export function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
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
  return (
    process.platform !== "linux" || !/^State:\s+[ZX]/m.test(readIfThere(`/proc/${pid}/status`))
  );
}

/** @param {unknown} error @param {string} code */
export function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
