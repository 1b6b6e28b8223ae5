// Runs the tests below the current folder: `node vitest.mjs [arguments of vitest]`.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { root } from "./folders.mjs";

/** @param {string} script @param {readonly string[]} args */
function run(script, args) {
  const { status } = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

const localServices = path.join(root, "packages", "local-services");
run(path.join(localServices, "prepare.mjs"), ["--tests"]);
run(path.join(localServices, "run.mjs"), [
  path.join("node_modules", "vitest", "vitest.mjs"),
  "run",
  ...["--project", "!release*"],
  // The path ends with the separator, so that packages/rpc does not also match packages/rpc-next.
  path.join(process.cwd(), path.sep),
  ...process.argv.slice(2),
]);
