import { readFileSync } from "node:fs";
import process from "node:process";
import { lint } from "./lint.ts";
import { trackedFiles } from "./tracked-files.ts";

// `npm run check:prose [-- <paths>]` reports each use of a word that `forbidden.json` forbids, with file and line, and
// exits with 1 if it finds any.

/** Excluded files: licences, the changelog and golden files, whose text must not change, and generated files. */
const ignored = /^(LICENSE|CHANGELOG\.md)$|(^|\/)gen\/|\.golden\.txt$|package-lock/;

const files = trackedFiles(...process.argv.slice(2)).filter((file) => !ignored.test(file));

const findings = files.flatMap((file) => lint(file, readFileSync(file, "utf8")));
for (const { place, kind, found, replacement, reason } of findings)
  console.log(`${place}  ${kind}: "${found}" → ${replacement} (${reason})`);
if (findings.length > 0) {
  console.log(`\n${findings.length} forbidden words; docs/glossary.md has the words to use.`);
  process.exitCode = 1;
}
