import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { Failure } from "./failure.mjs";
import { cacheFolder } from "./folders.mjs";
import { withLock } from "./lock.mjs";
import { longStep, say } from "./long-step.mjs";

/**
 * Programs that no npm package contains. `oldest`: the oldest version that is accepted on PATH, or "0" for any; if
 * omitted, programs on PATH are not used. `binary`: the name of the built file, if it differs. `asDependency`: the
 * program's go.mod has directives with which Go can build it only as a dependency of another module.
 * @typedef {{ version: string, module: string, oldest?: string, binary?: string, asDependency?: boolean, duration: string }} Program
 */
export const programs = /** @satisfies {Record<string, Program>} */ ({
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
  // For the tests of the chart (test/chart).
  helm: { version: "v4.3.1", module: "helm.sh/helm/v4/cmd/helm", duration: "three minutes" },
  "helm-3": {
    version: "v3.22.0",
    module: "helm.sh/helm/v3/cmd/helm",
    binary: "helm",
    duration: "three minutes",
  },
  kubeconform: {
    version: "v0.8.0",
    module: "github.com/yannh/kubeconform/cmd/kubeconform",
    duration: "half a minute",
  },
  promtool: {
    version: "v0.309.1",
    module: "github.com/prometheus/prometheus/cmd/promtool",
    asDependency: true,
    duration: "four minutes",
  },
  // Prometheus is built after promtool and reuses its compiled packages, which are largely the same.
  prometheus: {
    version: "v0.309.1",
    module: "github.com/prometheus/prometheus/cmd/prometheus",
    asDependency: true,
    duration: "a minute",
  },
  // A registry in memory, to which a test pushes a release of the chart.
  registry: {
    version: "v0.22.1",
    module: "github.com/google/go-containerregistry/cmd/registry",
    duration: "half a minute",
  },
});

/** The programs that only `npm run test:release` needs. */
export const releasePrograms = /** @type {const} */ ([
  "helm",
  "helm-3",
  "kubeconform",
  "promtool",
  "prometheus",
  "registry",
]);

/** @typedef {keyof typeof programs} ProgramName */

const suffix = process.platform === "win32" ? ".exe" : "";

/**
 * Returns the program's path: on PATH, otherwise in the cache. Returns undefined if the program is in neither.
 * @param {ProgramName} name
 */
export function findProgram(name) {
  /** @type {Program} */
  const { oldest } = programs[name];
  const onPath = oldest === undefined ? undefined : findOnPath(name);
  if (onPath && oldest && recentEnough(onPath, oldest)) return onPath;
  const cached = cachedProgram(name);
  return executable(cached) ? cached : undefined;
}

/**
 * Finds the program, or builds it into the cache. Throws Failure that says what to install.
 * @param {ProgramName} name
 */
export async function provideProgram(name) {
  const found = findProgram(name);
  if (found) return found;
  if (!canBuildPrograms()) throw new Failure(missingProgram(name));
  return withLock(
    `build-${name}`,
    async () => findProgram(name) ?? (await build(name)),
    () => say(`Waiting for another process that builds ${name} …`),
  );
}

/** Returns whether a missing program can be built on this machine. */
export const canBuildPrograms = () => findOnPath("go") !== undefined;

/**
 * Installation advice for a missing program.
 * @param {ProgramName} name
 */
export function missingProgram(name) {
  /** @type {Program} */
  const { module, version, oldest } = programs[name];
  const onPath = oldest === undefined ? "" : "install it so that it is on PATH, or ";
  return (
    `${name} is missing: ${onPath}install Go (https://go.dev/dl) and start again, ` +
    `then it is built from ${module}@${version}.`
  );
}

/** Returns the path of the command line that the compatibility tests run: `terraform`, otherwise `tofu`. */
export function findCommandLine() {
  return findOnPath("terraform") ?? findOnPath("tofu");
}

/**
 * Builds the program in a temporary folder and moves it in one step, so that a cached program is complete even if a
 * build was interrupted.
 * @param {ProgramName} name
 */
async function build(name) {
  /** @type {Program} */
  const { module, version, duration, asDependency, binary = name } = programs[name];
  const target = cachedProgram(name);
  mkdirSync(path.dirname(target), { recursive: true });
  const bin = mkdtempSync(path.join(path.dirname(target), ".building-"));
  try {
    if (asDependency) writeFileSync(path.join(bin, "go.mod"), "module build\n");
    const commands = asDependency
      ? [
          ["get", `${module}@${version}`],
          ["install", module],
        ]
      : [["install", `${module}@${version}`]];
    for (const args of commands) {
      await longStep({
        title: `Building ${name} ${version} (once, about ${duration})`,
        command: "go",
        args,
        cwd: bin,
        env: goEnvironment(bin),
        logName: `build-${name}`,
      });
    }
    renameSync(path.join(bin, `${binary}${suffix}`), target);
  } finally {
    rmSync(bin, { recursive: true, force: true });
  }
  return target;
}

/**
 * The environment of a build. Variables that affect the binary have fixed values: a C compiler can be missing,
 * cross-compilation settings of the shell would put the binary elsewhere, and flags of the shell could run other
 * programs (`-toolexec`). Where modules come from and how they are verified (GOPROXY, GOSUMDB, GOPRIVATE) is the
 * caller's decision, like the registry of npm (ADR 63).
 * @param {string} bin
 */
const goEnvironment = (bin) => ({
  ...process.env,
  GOBIN: bin,
  CGO_ENABLED: "0",
  GOOS: "",
  GOARCH: "",
  // GOFLAGS must not be empty, because Go would then use the flags of its own configuration file.
  GOFLAGS: "-trimpath -buildvcs=false",
  GOWORK: "off",
  GOEXPERIMENT: "",
});

/** @param {ProgramName} name */
const cachedProgram = (name) =>
  path.join(cacheFolder(), "bin", `${name}-${programs[name].version}${suffix}`);

/** Returns the path of a program on PATH; undefined if it is not there. @param {string} name */
export function findOnPath(name) {
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
