import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./folders.mjs";
import { longStep } from "./long-step.mjs";

/**
 * Returns whether node_modules matches the lock file.
 * @param {string} [folder]
 */
export function installed(folder = root) {
  const lock = readOrUndefined(path.join(folder, "package-lock.json"));
  const present = readOrUndefined(path.join(folder, "node_modules", ".package-lock.json"));
  if (lock === undefined || present === undefined) return false;
  if (readOrUndefined(stampFile(folder)) === stamp(lock)) return true;
  // The stamp is missing or old if npm was run manually. In this case npm's own record of the installed packages is
  // compared with the lock file, so that nothing is installed twice.
  if (!sameModules(JSON.parse(lock), JSON.parse(present))) return false;
  writeFileSync(stampFile(folder), stamp(lock));
  return true;
}

/** Installs exactly the packages of the lock file. Throws Failure. @param {string} [folder] */
export async function install(folder = root) {
  const script = process.env.npm_execpath;
  const npm = script?.endsWith(".js") && existsSync(script) ? script : undefined;
  // Install scripts of packages would run with the rights of the user, and none of them is needed (ADR 63).
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await longStep({
    title: existsSync(path.join(folder, "node_modules"))
      ? "Installing packages (the lock file has changed)"
      : "Installing packages (first time only, about a minute)",
    // process.execPath is only the fallback: npm scripts can run on the Node in node_modules, which "npm ci" deletes.
    command: npm
      ? (process.env.npm_node_execpath ?? process.execPath)
      : process.platform === "win32"
        ? "npm.cmd"
        : "npm",
    args: npm ? [npm, ...args] : args,
    cwd: folder,
    logName: "npm-ci",
  });
  writeFileSync(
    stampFile(folder),
    stamp(readFileSync(path.join(folder, "package-lock.json"), "utf8")),
  );
}

/** @param {string} folder */
const stampFile = (folder) => path.join(folder, "node_modules", ".statehouse-installed");

/** @param {string} lock */
const stamp = (lock) => createHash("sha256").update(lock).digest("hex");

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, link?: boolean }} Locked
 * @param {{ packages: Record<string, Locked> }} lock @param {{ packages: Record<string, Locked> }} present
 */
function sameModules(lock, present) {
  /** @param {Record<string, Locked>} packages */
  const modules = (packages) =>
    Object.entries(packages).filter(([name]) => name.startsWith("node_modules/"));
  return (
    modules(lock.packages).every(([name, { version, optional }]) => {
      const there = present.packages[name];
      // An optional package may be missing because it is for another platform; platform.mjs checks those of this
      // platform.
      return there ? there.version === version : optional === true;
    }) && modules(present.packages).every(([name]) => name in lock.packages)
  );
}

/** @param {string} file */
function readOrUndefined(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
