import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { countReport } from "./count-report.ts";

// `.ci/run` runs the checks and all tests and adds up their counts. Missing dependencies and skipped suites are
// failures. The last line of output is `N passed, N failed`.

const reports = mkdtempSync(path.join(tmpdir(), "statehouse-reports-"));

/** If no test explains why a run failed, this number of characters at the end of its output is printed again. */
const TAIL_CHARACTERS = 6000;

/**
 * Runs npm and returns its exit code and the end of what it printed. Signals to this process are forwarded to npm.
 */
function npm(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ exitCode: number | null; tail: string }> {
  const child = spawn("npm", args, {
    env: { ...process.env, CI: "true", ...env },
    stdio: ["inherit", "pipe", "pipe"],
  });
  let tail = "";
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.setEncoding("utf8").on("data", (text: string) => {
      to.write(text);
      tail = (tail + text).slice(-TAIL_CHARACTERS);
    });
  }
  const forward = (signal: NodeJS.Signals) => {
    child.kill(signal);
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, forward);
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ exitCode: null, tail: String(error) }));
    child.once("exit", async (exitCode) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, forward);
      // A process that the run left behind can keep the output of npm open.
      await Promise.race([once(child, "close"), setTimeout(5000, undefined, { ref: false })]);
      resolve({ exitCode, tail });
    });
  });
}

async function tests(name: string, ...args: readonly string[]) {
  const file = path.join(reports, `${name}.json`);
  const { exitCode, tail } = await npm(args, { TEST_REPORT: file });
  const report = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  return countReport(`npm ${args.join(" ")}`, { report, exitCode, tail });
}

const checked = await npm(["run", "check"]);
const counts = [
  checked.exitCode === 0
    ? { passed: 0, failed: 0, problems: [] }
    : { passed: 0, failed: 1, problems: [`npm run check failed:\n${checked.tail}`] },
  await tests("test", "test"),
  await tests("release", "run", "test:release"),
];
rmSync(reports, { recursive: true, force: true });

for (const problem of counts.flatMap(({ problems }) => problems)) console.error(problem);
const sum = (of: "passed" | "failed") => counts.reduce((total, count) => total + count[of], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(sum("failed") === 0 ? 0 : 1);
