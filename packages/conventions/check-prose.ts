import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { lint } from "./lint.ts";

// npm run check:prose [-- <paths>]: reports each forbidden word of forbidden.json with its file and line; exits with 1
// if there is any.

/** The rules contain the words they forbid; golden files and licences are quoted texts. */
const ignored =
  /^(LICENSE|CHANGELOG\.md)$|^packages\/prose\/|(^|\/)gen\/|\.golden\.txt$|package-lock/;

const files = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...process.argv.slice(2)],
  { encoding: "utf8", maxBuffer: 16 * 2 ** 20 },
)
  .split("\n")
  .filter((file) => file && !ignored.test(file) && existsSync(file));

const findings = files.flatMap((file) => lint(file, readFileSync(file, "utf8")));
for (const { place, kind, found, replacement, reason } of findings)
  console.log(`${place}  ${kind}: "${found}" → ${replacement} (${reason})`);
if (findings.length > 0) {
  console.log(`\n${findings.length} forbidden words; docs/glossary.md has the words to use.`);
  process.exitCode = 1;
}
