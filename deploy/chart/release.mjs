// Packages, signs and pushes the chart after deploy/image/release.mjs has pushed the image: `node
// deploy/chart/release.mjs oci://registry.example.com/charts --image registry.example.com/statehouse
//    --key NAME --keyring FILE [--passphrase-file FILE] [--dry-run]`. Needs Helm 4; the environment variable HELM
// selects a program other than `helm`. Writes the archive and its signature into dist/, beside the bill of materials.
// The same commit always gives an archive with the same bytes. With `--dry-run` nothing is pushed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { digestFile, pinnedBase } from "../image/base.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    image: { type: "string" },
    key: { type: "string" },
    keyring: { type: "string" },
    "passphrase-file": { type: "string" },
    dist: { type: "string", default: path.join(root, "dist") },
    "digest-file": { type: "string", default: digestFile },
    "plain-http": { type: "boolean", default: false },
    "dry-run": { type: "boolean", default: false },
  },
});
const [registry = ""] = positionals;
if (!/^oci:\/\/[^/]+\/./.test(registry)) {
  fail("The first argument must be the registry, such as oci://registry.example.com/charts.");
}
const { image, key } = values;
const keyring = values.keyring && path.resolve(values.keyring);
const dist = path.resolve(values.dist);
if (!image) fail("--image is missing: the repository, such as registry.example.com/statehouse.");
if (!key || !keyring) fail("--key and --keyring are required: the chart is signed with them.");
const { problem } = pinnedBase(values["digest-file"]);
if (problem) fail(problem);

const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const digest = ofTheImage(".digest").toString("utf8").trim();
if (!/^sha256:[0-9a-f]{64}$/.test(digest)) fail("The digest of the image is not valid.");
const bill = createHash("sha256").update(ofTheImage(".cdx.json")).digest("hex");

const source = path.join(root, "helm/statehouse");
const draft = mkdtempSync(path.join(tmpdir(), "statehouse-chart-"));
// `fail` exits, which skips a `finally`.
process.once("exit", () => rmSync(draft, { recursive: true, force: true }));
const chart = path.join(draft, "statehouse");
cpSync(source, chart, { recursive: true });
const file = path.join(chart, "Chart.yaml");
const description = readFileSync(file, "utf8");
for (const name of ["version", "appVersion"]) {
  if (!new RegExp(`^${name}: ${version.replaceAll(".", "\\.")}$`, "m").test(description)) {
    fail(`${name} of helm/statehouse/Chart.yaml is not ${version}, the version of package.json.`);
  }
}
// These annotations contain the digests of the image and of its bill of materials, so that the chart's signature
// covers both.
const annotations = [
  "  artifacthub.io/images: |",
  "    - name: statehouse",
  `      image: ${image}@${digest}`,
  `  statehouse/bill-of-materials: statehouse-${version}.cdx.json sha256:${bill}`,
];
writeFileSync(file, `${description.trimEnd()}\n${annotations.join("\n")}\n`);
setTimes(chart, committedAt());
mkdirSync(dist, { recursive: true });
const passphrase = values["passphrase-file"] && path.resolve(values["passphrase-file"]);
helm(
  "package",
  chart,
  `--destination=${dist}`,
  "--sign",
  `--key=${key}`,
  `--keyring=${keyring}`,
  ...(passphrase ? [`--passphrase-file=${passphrase}`] : []),
);
if (!values["dry-run"]) {
  const archive = path.join(dist, `statehouse-${version}.tgz`);
  helm("push", archive, registry, ...(values["plain-http"] ? ["--plain-http"] : []));
}

/** Returns the content of a file that deploy/image/release.mjs has written. @param {string} extension */
function ofTheImage(extension) {
  const file = path.join(dist, `statehouse-${version}${extension}`);
  try {
    return readFileSync(file);
  } catch {
    return fail(`${file} is missing: release the image first, with deploy/image/release.mjs.`);
  }
}

/** Returns the time of the commit, in seconds, or SOURCE_DATE_EPOCH if it is set. */
function committedAt() {
  const configured = process.env.SOURCE_DATE_EPOCH;
  if (configured) return Number(configured);
  const { stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root });
  return Number(stdout) || fail("git did not return the time of the commit.");
}

/**
 * Sets the times of all files, because Helm writes these times into the archive.
 * @param {string} folder @param {number} seconds
 */
function setTimes(folder, seconds) {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    utimesSync(path.join(folder, name), seconds, seconds);
  }
}

/** @param {readonly string[]} args */
function helm(...args) {
  const command = process.env.HELM ?? "helm";
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) fail(`helm ${args[0]} failed${error ? `: ${error.message}` : ""}`);
}

/** @param {string} reason @returns {never} */
function fail(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
