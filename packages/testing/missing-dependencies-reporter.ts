import type { Reporter, TestModule, TestSuite } from "vitest/node";

/**
 * Lists every skipped suite at the end of the run, so that a missing dependency is noticed. `files` are the test files
 * that the configuration leaves out because nats-server is missing.
 */
export default class MissingDependenciesReporter implements Reporter {
  readonly #files: readonly string[];

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allSuites()]
        .filter(outermostSkipped)
        .map((suite) => `  ${module.relativeModuleId}: ${suite.fullName}${reason(suite)}`),
    );
    // A run of only unit tests does not need nats-server.
    if (modules.some(({ project }) => project.name !== "unit"))
      skipped.push(...this.#files.map((file) => `  ${file} (needs nats-server)`));
    if (skipped.length > 0) process.stdout.write(`\nSkipped suites:\n${skipped.join("\n")}\n`);
  }
}

const outermostSkipped = (suite: TestSuite): boolean =>
  suite.options.mode === "skip" &&
  !(suite.parent.type === "suite" && suite.parent.options.mode === "skip");

const reason = (suite: TestSuite): string => {
  const { missing } = suite.meta();
  return missing ? ` (needs ${missing.join(" and ")})` : "";
};
