import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.dirname(fileURLToPath(import.meta.url));

/** The file that pins the base of the image. It contains the digest, `sha256:…`, of the tag in the Dockerfile. */
export const digestFile = path.join(folder, "base.digest");

/**
 * Returns the base of the image with its digest, and the problem if the digest is missing or malformed.
 * @param {string} file
 * @returns {{ base: string, problem?: string }}
 */
export function pinnedBase(file) {
  const digest = readFileSync(file, "utf8").trim();
  const dockerfile = readFileSync(path.join(folder, "Dockerfile"), "utf8");
  const [, tagged = ""] = /^ARG BASE=(.+)$/m.exec(dockerfile) ?? [];
  const base = `${tagged.replace(/:[^:/]*$/, "")}@${digest}`;
  if (digest === "") {
    const remedy = `write the digest of ${tagged} into it before a release.`;
    return { base, problem: `deploy/image/base.digest is empty: ${remedy}` };
  }
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) {
    return { base, problem: "deploy/image/base.digest must be sha256: and 64 hexadecimal digits." };
  }
  return { base };
}
