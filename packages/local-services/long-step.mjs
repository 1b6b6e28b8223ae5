import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Failure } from "./failure.mjs";
import { cacheFolder } from "./folders.mjs";

const beatMs = 20_000;

/** @param {string} line */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Runs a command that can take minutes: prints its title and, every 20 s, that it still runs. Its output goes to a log
 * file; on failure, the Failure quotes the relevant line and names the file.
 * @param {{ title: string, command: string, args: string[], cwd: string, env?: NodeJS.ProcessEnv, logName: string }} step
 */
export async function longStep({ title, command, args, cwd, env = process.env, logName }) {
  say(`${title} …`);
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const logFile = path.join(cacheFolder(), "logs", `${logName}.log`);
  mkdirSync(path.dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile);
  const beat = setInterval(() => say(`  still running after ${seconds()} s`), beatMs);
  try {
    // A ".cmd" (npm on Windows) needs a shell.
    const shell = process.platform === "win32" && command.endsWith(".cmd");
    const child = spawn(command, args, { cwd, env, shell, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    const code = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (exit, signal) => resolve(exit ?? signal));
    });
    log.end();
    await once(log, "close");
    if (code !== 0)
      throw new Failure(`${title}: failed${reason(logFile)} (complete output: ${logFile}).`);
    say(`  done in ${seconds()} s`);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(
      `${title}: ${command} cannot be run (${error instanceof Error ? error.message : error}).`,
    );
  } finally {
    clearInterval(beat);
  }
}

/**
 * Returns the first line of the log that states the cause. npm and go print the cause first and explanations after it.
 * @param {string} logFile
 */
function reason(logFile) {
  const lines = readFileSync(logFile, "utf8")
    .split("\n")
    .map((line) => line.trim());
  const printed = lines.filter(
    (line) => line !== "" && !/^(npm (warn|notice)|go: downloading)/i.test(line),
  );
  const first =
    printed.find((line) => /error|cannot|not found|failed|unknown/i.test(line)) ?? printed[0];
  return first ? `: ${first.replace(/\.$/, "").slice(0, 300)}` : "";
}
