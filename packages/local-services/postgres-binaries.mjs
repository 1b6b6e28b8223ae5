import { chmodSync, copyFileSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { postgresPackage } from "./platform.mjs";

const suffix = process.platform === "win32" ? ".exe" : "";

/** Describes the packaged PostgreSQL: its folder (bin, lib, share), its programs, its version. Throws Failure. */
export function postgresBinaries(folder = path.join(postgresPackage(), "native")) {
  const { version } = JSON.parse(
    readFileSync(path.join(postgresPackage(), "package.json"), "utf8"),
  );
  return {
    folder,
    initdb: path.join(folder, "bin", `initdb${suffix}`),
    postgres: path.join(folder, "bin", `postgres${suffix}`),
    version: String(version),
    major: Number.parseInt(String(version), 10),
  };
}

/**
 * Completes the package if npm ran no install scripts: npm packages contain no symbolic links, and some caches remove
 * the executable bit. Costs a few lstat calls if nothing is missing. Throws Failure.
 */
export function hydratePostgres() {
  const folder = postgresPackage();
  for (const { source, target } of symlinks(folder)) {
    const link = path.join(folder, target);
    if (present(link)) continue;
    // The link is relative, so that the folder can be moved or copied.
    if (process.platform === "win32") copyFileSync(path.join(folder, source), link);
    else symlinkSync(path.relative(path.dirname(target), source), link);
  }
  if (process.platform === "win32") return;
  for (const program of ["initdb", "pg_ctl", "postgres"]) {
    const file = path.join(folder, "native", "bin", program);
    const { mode } = statSync(file);
    if ((mode & 0o111) !== 0o111) chmodSync(file, mode | 0o111);
  }
}

/** @param {string} folder @returns {{ source: string, target: string }[]} */
function symlinks(folder) {
  const file = path.join(folder, "native", "pg-symlinks.json");
  return present(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
}

/** @param {string} file */
const present = (file) => lstatSync(file, { throwIfNoEntry: false }) !== undefined;
