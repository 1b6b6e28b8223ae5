import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./folders.mjs";
import { longStep } from "./long-step.mjs";

const generatedFolder = path.join(root, "packages", "proto", "gen");
// The stamp is in the generated folder. buf empties that folder first, so running buf manually deletes the stamp.
const stampFile = path.join(generatedFolder, ".from");

/** Returns whether packages/proto/gen was generated from the current proto/. */
export function generated() {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === fingerprint();
}

/** Runs buf over proto/. Throws Failure. */
export async function generate() {
  const from = fingerprint();
  const bin = path.join(root, "node_modules", ".bin");
  await longStep({
    title: "Generating messages and services from proto/",
    command: process.execPath,
    args: [path.join(root, "node_modules", "@bufbuild", "buf", "bin", "buf"), "generate"],
    cwd: root,
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}` },
    logName: "buf-generate",
  });
  writeFileSync(stampFile, from);
}

function fingerprint() {
  const hash = createHash("sha256");
  const proto = path.join(root, "proto");
  const sources = readdirSync(proto, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".proto"))
    .sort()
    .map((file) => path.join("proto", file));
  const tools = ["buf.yaml", "buf.gen.yaml", "node_modules/@bufbuild/protoc-gen-es/package.json"];
  for (const file of [...sources, ...tools]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}
