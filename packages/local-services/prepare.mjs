// npm runs this script before `start`, `statehouse`, `test` and `bench`, on any Node (20 or newer), before anything is
// installed: only Node's own modules can be imported here and in the imported files.
import { createHash } from "node:crypto";
import { exitWithMessage, Failure } from "./failure.mjs";
import { root } from "./folders.mjs";
import { generate, generated } from "./generate.mjs";
import { install, installed } from "./install.mjs";
import { withLock } from "./lock.mjs";
import { say } from "./long-step.mjs";
import { pinnedNode } from "./platform.mjs";
import { hydratePostgres } from "./postgres-binaries.mjs";
import {
  canBuildPrograms,
  findCommandLine,
  findProgram,
  provideProgram,
  releasePrograms,
} from "./programs.mjs";
import { providePythonEnvironment } from "./python-environments.mjs";
import { provideReleaseTools } from "./release-tools.mjs";

const forRelease = process.argv.includes("--release");
const forTests = forRelease || process.argv.includes("--tests");
/** Whether this run prepares a command of `statehouse`, which starts no local services. */
const forCommands = process.argv.includes("--commands");
const onCi = process.env.CI === "true";

await exitWithMessage(async () => {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Failure(
      `Statehouse needs Node 20 or newer to install itself; this is ${process.versions.node}.`,
    );
  }
  await once(installed, install);
  pinnedNode();
  hydratePostgres();
  await once(generated, generate);
  if (forCommands) return;
  if (!forTests) await ifPossible("nats-server");
  else {
    await unlessOnCi(() => provideProgram("nats-server"));
    await unlessOnCi(() => provideProgram("minio"));
    await unlessOnCi(async () => {
      if (!findCommandLine())
        throw new Failure("terraform is missing: install it, or tofu, so that it is on PATH.");
    });
  }
  if (forRelease) for (const name of releasePrograms) await unlessOnCi(() => provideProgram(name));
  if (forRelease) await unlessOnCi(provideReleaseTools);
  if (forRelease) {
    await unlessOnCi(() => providePythonEnvironment("schemathesis"));
    await unlessOnCi(() => providePythonEnvironment("python-client"));
  }
});

/**
 * Does the work unless it is already done. Of two concurrent runs in this clone, one does the work and the other waits.
 * @param {() => boolean} done
 * @param {() => Promise<void>} work
 */
async function once(done, work) {
  if (done()) return;
  const clone = createHash("sha256").update(root).digest("hex").slice(0, 16);
  await withLock(
    `prepare-${clone}`,
    async () => {
      if (!done()) await work();
    },
    () => say("Waiting for another process that prepares this folder …"),
  );
}

/**
 * Provides the program if possible. Statehouse also starts without it, and then prints the consequences.
 * @param {Parameters<typeof provideProgram>[0]} name
 */
async function ifPossible(name) {
  if (!findProgram(name) && !canBuildPrograms()) return;
  try {
    await provideProgram(name);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    say(error.message);
  }
}

/**
 * Runs `work`, which provides something that only some suites need. If that fails, these suites are skipped and listed,
 * but on CI the failure is thrown.
 * @param {() => Promise<unknown>} work
 */
async function unlessOnCi(work) {
  try {
    await work();
  } catch (error) {
    if (onCi || !(error instanceof Failure)) throw error;
    say(`${error.message} The suites that need it will be skipped.`);
  }
}
