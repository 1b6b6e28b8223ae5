import type { Reporter, TestModule, TestSuite } from "vitest/node";

/** Names at the end of the run every suite that was skipped: a part its machine lacks must not go unnoticed. */
export default class MissingPartsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allSuites()]
        .filter(outermostSkipped)
        .map((suite) => `  ${module.relativeModuleId}: ${suite.fullName}`),
    );
    if (skipped.length > 0) process.stdout.write(`\nSkipped suites:\n${skipped.join("\n")}\n`);
  }
}

const outermostSkipped = (suite: TestSuite): boolean =>
  suite.options.mode === "skip" &&
  !(suite.parent.type === "suite" && suite.parent.options.mode === "skip");
