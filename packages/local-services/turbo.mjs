// Runs turbo on the pinned Node, without telemetry: `node turbo.mjs run types lint`. Continuous integration runs every
// task without the cache.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { root } from "./folders.mjs";
import { pinnedNode } from "./platform.mjs";

const args = process.argv.slice(2);
const node = pinnedNode();
const { status } = spawnSync(
  node,
  [
    path.join(root, "node_modules", "turbo", "bin", "turbo"),
    ...args,
    ...(process.env.CI === "true" && args[0] === "run" ? ["--force"] : []),
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      PATH: [path.dirname(node), process.env.PATH ?? ""].join(path.delimiter),
      TURBO_TELEMETRY_DISABLED: "1",
      DO_NOT_TRACK: "1",
    },
  },
);
process.exitCode = status ?? 1;
