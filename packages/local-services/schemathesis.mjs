import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Failure } from "./failure.mjs";
import { cacheFolder, root } from "./folders.mjs";
import { withLock } from "./lock.mjs";
import { longStep, say } from "./long-step.mjs";
import { findOnPath } from "./programs.mjs";

// Schemathesis calls every operation of the OpenAPI document with generated requests. It is a Python program: its
// packages are installed into a virtual environment of the cache, in the versions and with the hashes of the
// requirements (pip-compile --generate-hashes).

const requirements = path.join(root, "packages", "local-services", "schemathesis-requirements.txt");

/** The folder of the virtual environment. Each version of the requirements has its own folder. */
function folder() {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  return path.join(cacheFolder(), `schemathesis-${hash}`);
}

/** @param {string} program */
const programIn = (program) =>
  process.platform === "win32"
    ? path.join(folder(), "Scripts", `${program}.exe`)
    : path.join(folder(), "bin", program);
const complete = () => path.join(folder(), ".complete");

/** The path of schemathesis; undefined if it is not installed. */
export const findSchemathesis = () =>
  existsSync(complete()) ? programIn("schemathesis") : undefined;

/** Installation advice. */
export const missingSchemathesis =
  "schemathesis is missing: install Python 3.11 or newer with its module venv so that python3 is on PATH, and run npm run test:release, which installs it.";

/** Finds schemathesis, or installs it. Throws Failure that says what to install. */
export async function provideSchemathesis() {
  if (findSchemathesis()) return;
  const python = findOnPath("python3") ?? findOnPath("python");
  if (!python) throw new Failure(missingSchemathesis);
  await withLock(
    "install-schemathesis",
    async () => {
      if (!findSchemathesis()) await installWith(python);
    },
    () => say("Waiting for another process that installs schemathesis …"),
  );
}

/**
 * Installs into the final folder, because a virtual environment contains its own path and cannot be moved. An
 * interrupted installation is recognized by its missing mark and deleted.
 * @param {string} python
 */
async function installWith(python) {
  rmSync(folder(), { recursive: true, force: true });
  mkdirSync(path.dirname(folder()), { recursive: true });
  await longStep({
    title: "Creating a virtual environment for schemathesis (once)",
    command: python,
    args: ["-m", "venv", folder()],
    cwd: root,
    logName: "schemathesis-venv",
  });
  await longStep({
    title: "Installing schemathesis (once, about half a minute)",
    command: programIn("python"),
    args: [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
      ...["--require-hashes", "--requirement", requirements],
    ],
    cwd: root,
    logName: "schemathesis-packages",
  });
  writeFileSync(`${complete()}.new`, "");
  renameSync(`${complete()}.new`, complete());
}
