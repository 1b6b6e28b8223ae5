// Fills a folder with the compiled code of every command. Runs while the image is built. Each command loads all of its
// modules and then ends, because its settings are missing.
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const [folder = ""] = process.argv.slice(2);
const main = "/app/services/cli/main.ts";

/** @param {readonly string[]} args */
function run(...args) {
  const { stdout, stderr, signal } = spawnSync(process.execPath, [main, ...args], {
    encoding: "utf8",
    env: { HOME: "/tmp", NODE_ENV: "production", NODE_COMPILE_CACHE: folder },
    timeout: 120_000,
  });
  const output = `${stdout}${stderr}`;
  // Every command but `help` fails here, because its settings are missing. Only the failures below are faults of the
  // image.
  if (signal || /ERR_MODULE|ERR_UNKNOWN_FILE|ERR_UNSUPPORTED|SyntaxError/.test(output)) {
    process.stderr.write(`${args.join(" ")}: ${signal ?? output}\n`);
    process.exit(1);
  }
  return output;
}

for (const [, name = "", services = ""] of run("help").matchAll(
  /^ {2}([a-z-]+) (?:<([^>]*)>)?/gm,
)) {
  // `start` would start PostgreSQL, which is not in the image.
  if (name === "start") continue;
  for (const service of services.split("|")) run(name, service);
}

// Node creates files that only their owner may read, and the services do not own the files in the image.
chmodSync(folder, 0o755);
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
