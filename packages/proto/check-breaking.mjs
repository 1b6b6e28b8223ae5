// Compares proto/ with the committed Protobuf image: `npm run check:proto`. With `--renew`, replaces the image with one
// of the current proto/; before version 1.0 this is allowed with an entry in CHANGELOG.md.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const image = "test/golden/proto.binpb";

/** @param {readonly string[]} args */
function buf(...args) {
  const program = path.join(root, "node_modules", "@bufbuild", "buf", "bin", "buf");
  const { status } = spawnSync(process.execPath, [program, ...args], {
    cwd: root,
    stdio: "inherit",
  });
  return status === 0;
}

/** @param {string} problem */
function fail(problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

const line = () => {
  const hash = createHash("sha256")
    .update(readFileSync(path.join(root, image)))
    .digest("hex");
  return `Protobuf image ${hash.slice(0, 12)}`;
};

if (process.argv.includes("--renew")) {
  if (!buf("build", "--exclude-source-info", "-o", image)) process.exitCode = 1;
  else process.stdout.write(`Add an entry to "Breaking" of CHANGELOG.md that names: ${line()}\n`);
} else if (!buf("breaking", "--against", image)) {
  fail(
    `A change of proto/ breaks other programs. Make it compatible, or run "npm run proto:renew" and add an entry to CHANGELOG.md.`,
  );
} else if (!readFileSync(path.join(root, "CHANGELOG.md"), "utf8").includes(line())) {
  fail(`${image} was renewed without an entry in CHANGELOG.md; add one that names: ${line()}`);
}
