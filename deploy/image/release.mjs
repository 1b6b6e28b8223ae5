// Builds the image of a release on the pinned base and pushes it: `node deploy/image/release.mjs
// registry.example.com/statehouse [--dry-run]`. The bill of materials and the digest are written into dist/.
// deploy/image/base.digest pins the base: it contains the digest, `sha256:…`, of the tag in the Dockerfile.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { digestFile, pinnedBase } from "./base.mjs";

const folder = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(folder, "../..");
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    "dry-run": { type: "boolean", default: false },
    "digest-file": { type: "string", default: digestFile },
  },
});
const [repository] = positionals;
if (!repository)
  fail("An argument is missing: the repository, such as registry.example.com/statehouse.");

const { base, problem } = pinnedBase(values["digest-file"]);
if (problem) fail(problem);
const changes = spawnSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).stdout;
if (changes !== "" && !values["dry-run"]) fail("There are changes that are not committed.");

const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const image = `${repository}:${version}`;
const dist = path.join(root, "dist");
if (!values["dry-run"]) mkdirSync(dist, { recursive: true });
run(
  process.execPath,
  path.join(folder, "build.mjs"),
  `--base=${base}`,
  `--sbom=${path.join(dist, `statehouse-${version}.cdx.json`)}`,
  `--tag=${image}`,
);
run(
  "buildah",
  "push",
  `--digestfile=${path.join(dist, `statehouse-${version}.digest`)}`,
  image,
  `docker://${image}`,
);

/** @param {string} command @param {readonly string[]} args */
function run(command, ...args) {
  process.stdout.write(`${[path.basename(command), ...args].join(" ")}\n`);
  if (values["dry-run"]) return;
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) fail(`${command} failed${error ? `: ${error.message}` : ""}`);
}

/** @param {string} problem @returns {never} */
function fail(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
