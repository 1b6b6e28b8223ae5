import { execFileSync } from "node:child_process";
import process from "node:process";
import { subjectProblems } from "./commits.ts";

// `npm run check:commits [-- <range>]` reports commit subjects that break the rules of CONTRIBUTING.md; the default
// range is `origin/main..HEAD`. It is not part of `npm run check`, because merged commits cannot be changed.

const [range = "origin/main..HEAD"] = process.argv.slice(2);
const log = execFileSync("git", ["log", "--no-merges", "--format=%h %s", range], {
  encoding: "utf8",
});
for (const line of log.split("\n").filter(Boolean)) {
  const problems = subjectProblems(line.slice(line.indexOf(" ") + 1));
  if (problems.length === 0) continue;
  console.log(`${line}\n  ${problems.join("; ")}`);
  process.exitCode = 1;
}
