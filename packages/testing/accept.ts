import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { countReport } from "./count-report.ts";

// .ci/run: runs the checks and all tests and adds their counts. Missing dependencies and skipped suites are failures.
// The last line is "N passed, N failed".

const reports = mkdtempSync(path.join(tmpdir(), "statehouse-reports-"));

/** Runs npm and returns its exit code. Signals to this process are forwarded to npm. */
function npm(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number | null> {
  const child = spawn("npm", args, {
    env: { ...process.env, CI: "true", ...env },
    stdio: "inherit",
  });
  const forward = (signal: NodeJS.Signals) => {
    child.kill(signal);
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, forward);
  return new Promise((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", (code) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, forward);
      resolve(code);
    });
  });
}

async function tests(name: string, ...args: readonly string[]) {
  const file = path.join(reports, `${name}.json`);
  const exitCode = await npm(args, { TEST_REPORT: file });
  const report = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  return countReport(`npm ${args.join(" ")}`, { report, exitCode });
}

const checked = await npm(["run", "check"]);
const counts = [
  {
    passed: 0,
    failed: checked === 0 ? 0 : 1,
    problems: checked === 0 ? [] : ["npm run check failed"],
  },
  await tests("test", "test"),
  await tests("release", "run", "test:release"),
];
rmSync(reports, { recursive: true, force: true });

for (const problem of counts.flatMap(({ problems }) => problems)) console.error(problem);
const sum = (of: "passed" | "failed") => counts.reduce((total, count) => total + count[of], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exitCode = sum("failed") === 0 ? 0 : 1;
