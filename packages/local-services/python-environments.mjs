import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Failure } from "./failure.mjs";
import { cacheFolder, root } from "./folders.mjs";
import { withLock } from "./lock.mjs";
import { longStep, say } from "./long-step.mjs";
import { findOnPath } from "./programs.mjs";

/**
 * The Python packages that tests need. Each list of requirements has its own virtual environment in the cache, with
 * exactly the versions and hashes of the list (`pip-compile --generate-hashes`).
 * @typedef {{ requirements: string, duration: string }} PythonEnvironment
 */
export const pythonEnvironments = /** @satisfies {Record<string, PythonEnvironment>} */ ({
  // Calls every operation of the OpenAPI document with generated requests.
  schemathesis: {
    requirements: "packages/local-services/schemathesis-requirements.txt",
    duration: "half a minute",
  },
  // The dependencies of the Python package for subscribers, and the tools that check the package.
  "python-client": {
    requirements: "clients/python/requirements-dev.txt",
    duration: "half a minute",
  },
});

/** @typedef {keyof typeof pythonEnvironments} PythonEnvironmentName */

/** @param {PythonEnvironmentName} name */
const requirementsOf = (name) => path.join(root, pythonEnvironments[name].requirements);

/**
 * Returns the folder of the virtual environment. Each version of the requirements has its own folder.
 * @param {PythonEnvironmentName} name
 */
function folderOf(name) {
  const hash = createHash("sha256")
    .update(readFileSync(requirementsOf(name)))
    .digest("hex");
  return path.join(cacheFolder(), `${name}-${hash.slice(0, 12)}`);
}

/** @param {PythonEnvironmentName} name @param {string} program */
const programIn = (name, program) =>
  process.platform === "win32"
    ? path.join(folderOf(name), "Scripts", `${program}.exe`)
    : path.join(folderOf(name), "bin", program);

/** @param {PythonEnvironmentName} name */
const complete = (name) => path.join(folderOf(name), ".complete");

/**
 * Returns the path of a program of the environment; undefined if the environment is not installed.
 * @param {PythonEnvironmentName} name @param {string} program
 */
export const findPythonProgram = (name, program) =>
  existsSync(complete(name)) ? programIn(name, program) : undefined;

/** Installation advice. @param {PythonEnvironmentName} name */
export const missingPythonEnvironment = (name) =>
  `${name} is missing: install Python 3.11 or newer with its module venv so that python3 is on PATH, and run npm run test:release, which installs it.`;

/**
 * Finds the environment, or installs it. Throws Failure that says what to install.
 * @param {PythonEnvironmentName} name
 */
export async function providePythonEnvironment(name) {
  if (existsSync(complete(name))) return;
  const python = findOnPath("python3") ?? findOnPath("python");
  if (!python) throw new Failure(missingPythonEnvironment(name));
  await withLock(
    `install-${name}`,
    async () => {
      if (!existsSync(complete(name))) await installWith(python, name);
    },
    () => say(`Waiting for another process that installs ${name} …`),
  );
}

/**
 * Installs into the final folder, because a virtual environment contains its own path and cannot be moved. An
 * interrupted installation has no file `.complete`, and is deleted before the next attempt.
 * @param {string} python
 * @param {PythonEnvironmentName} name
 */
async function installWith(python, name) {
  rmSync(folderOf(name), { recursive: true, force: true });
  mkdirSync(path.dirname(folderOf(name)), { recursive: true });
  await longStep({
    title: `Creating a virtual environment for ${name} (once)`,
    command: python,
    args: ["-m", "venv", folderOf(name)],
    cwd: root,
    logName: `${name}-venv`,
  });
  await longStep({
    title: `Installing ${name} (once, about ${pythonEnvironments[name].duration})`,
    command: programIn(name, "python"),
    args: [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
      ...["--require-hashes", "--requirement", requirementsOf(name)],
    ],
    cwd: root,
    logName: `${name}-packages`,
  });
  writeFileSync(`${complete(name)}.new`, "");
  renameSync(`${complete(name)}.new`, complete(name));
}
