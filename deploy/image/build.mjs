// Builds the image with buildah: `node deploy/image/build.mjs --tag statehouse:dev [--base IMAGE] [--builder IMAGE]
// [--sbom FILE] [-- options of buildah build]`. The same commit gives the same layers, except the layer of the compile
// cache (docs/operations.md, "Image"). Prints the image's id.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bomOf } from "./bom.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** @param {string} command @param {readonly string[]} args */
function output(command, ...args) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (error || status !== 0) {
    process.stderr.write(`${command} ${args[0]} failed${error ? `: ${error.message}` : ""}\n`);
    process.exit(1);
  }
  return stdout.trim();
}

const separator = process.argv.indexOf("--");
const own = process.argv.slice(2, separator < 0 ? undefined : separator);
const more = separator < 0 ? [] : process.argv.slice(separator + 1);
const { values } = parseArgs({
  args: own,
  options: {
    tag: { type: "string" },
    base: { type: "string" },
    builder: { type: "string" },
    sbom: { type: "string" },
  },
});
if (!values.tag) {
  process.stderr.write("--tag is missing: the name of the image, for example statehouse:dev\n");
  process.exit(1);
}
const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const [revision = "", time = ""] = output("git", "log", "-1", "--format=%H %ct").split(" ");
const argument = (/** @type {string} */ name, /** @type {string | undefined} */ value) =>
  value === undefined ? [] : ["--build-arg", `${name}=${value}`];
const image = output(
  "buildah",
  "build",
  "--quiet",
  // All files and the image itself have the time of the commit.
  `--timestamp=${time}`,
  ...argument("BASE", values.base),
  ...argument("BUILDER", values.builder),
  ...argument("VERSION", version),
  ...argument("REVISION", revision),
  ...more,
  "--file=deploy/image/Dockerfile",
  `--tag=${values.tag}`,
  ".",
);
if (values.sbom) {
  const container = output("buildah", "from", image);
  try {
    const files = output("buildah", "mount", container);
    const lock = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
    const bom = bomOf(files, lock, { version, time: new Date(Number(time) * 1000) });
    writeFileSync(values.sbom, `${JSON.stringify(bom, null, 2)}\n`);
  } finally {
    output("buildah", "rm", container);
  }
}
process.stdout.write(`${image}\n`);
