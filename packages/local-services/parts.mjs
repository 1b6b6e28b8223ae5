import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { Failure } from "./failure.mjs";
import { cacheFolder } from "./folders.mjs";
import { withLock } from "./lock.mjs";
import { longStep, say } from "./long-step.mjs";

/**
 * Programs that npm does not carry. `oldest`: the oldest accepted version on PATH, if `version` prints a number at all.
 * @typedef {{ version: string, module: string, oldest: string, duration: string }} Part
 */
export const parts = /** @satisfies {Record<string, Part>} */ ({
  "nats-server": {
    version: "v2.15.2",
    module: "github.com/nats-io/nats-server/v2",
    oldest: "2.10.0",
    duration: "half a minute",
  },
  minio: {
    version: "v0.0.0-20260212201848-7aac2a2c5b7c",
    module: "github.com/minio/minio",
    oldest: "0",
    duration: "three minutes",
  },
});

/** @typedef {keyof typeof parts} PartName */

const suffix = process.platform === "win32" ? ".exe" : "";

/**
 * The program's path: on PATH, otherwise in the cache. Undefined if neither has it.
 * @param {PartName} name
 */
export function findPart(name) {
  const onPath = findOnPath(name);
  if (onPath && recentEnough(onPath, parts[name].oldest)) return onPath;
  const cached = cachedPart(name);
  return executable(cached) ? cached : undefined;
}

/**
 * Finds the program, or builds it into the cache. Throws Failure that says what to install.
 * @param {PartName} name
 */
export async function providePart(name) {
  const found = findPart(name);
  if (found) return found;
  if (!canBuildParts()) throw new Failure(missingPart(name));
  return withLock(
    `build-${name}`,
    async () => findPart(name) ?? (await build(name)),
    () => say(`Waiting for another process that builds ${name} …`),
  );
}

/** Whether a missing part can be built here. */
export const canBuildParts = () => findOnPath("go") !== undefined;

/**
 * Installation advice for a missing program.
 * @param {PartName} name
 */
export function missingPart(name) {
  const { module, version } = parts[name];
  return (
    `${name} is missing: install it so that it is on PATH, or install Go (https://go.dev/dl) and start again, ` +
    `then it is built from ${module}@${version}.`
  );
}

/** The real command line of the compatibility tests: terraform, otherwise tofu. */
export function findCommandLine() {
  return findOnPath("terraform") ?? findOnPath("tofu");
}

/**
 * Built in a temporary folder and moved in one step: a cached program is complete, even if a build is interrupted.
 * @param {PartName} name
 */
async function build(name) {
  const { module, version, duration } = parts[name];
  const target = cachedPart(name);
  mkdirSync(path.dirname(target), { recursive: true });
  const bin = mkdtempSync(path.join(path.dirname(target), ".building-"));
  try {
    await longStep({
      title: `Building ${name} ${version} (once, about ${duration})`,
      command: "go",
      args: ["install", `${module}@${version}`],
      cwd: bin,
      // No C compiler needed; cross-compilation settings of the shell would put the binary elsewhere.
      env: { ...process.env, GOBIN: bin, CGO_ENABLED: "0", GOOS: "", GOARCH: "" },
      logName: `build-${name}`,
    });
    renameSync(path.join(bin, `${name}${suffix}`), target);
  } finally {
    rmSync(bin, { recursive: true, force: true });
  }
  return target;
}

/** @param {PartName} name */
const cachedPart = (name) =>
  path.join(cacheFolder(), "bin", `${name}-${parts[name].version}${suffix}`);

/** @param {string} name */
function findOnPath(name) {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute);
  return folders.map((folder) => path.join(folder, `${name}${suffix}`)).find(executable);
}

/** @param {string} file */
function executable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} file @param {string} oldest */
function recentEnough(file, oldest) {
  if (oldest === "0") return true;
  const printed = spawnSync(file, ["--version"], { encoding: "utf8" }).stdout ?? "";
  const version = /v?(\d+\.\d+\.\d+)/.exec(printed)?.[1];
  return version !== undefined && version.localeCompare(oldest, "en", { numeric: true }) >= 0;
}
