import { defineConfig } from "vitest/config";
import MissingPartsReporter from "./packages/testing/missing-parts-reporter.ts";

const onCi = process.env.CI === "true";

export default defineConfig({
  test: {
    include: [
      "packages/**/*.test.ts",
      "services/**/*.test.ts",
      "test/{system,compat,faults,golden,model}/**/*.test.ts",
    ],
    globalSetup: ["packages/testing/global-setup.ts"],
    // Real processes and signals: threads would share them.
    pool: "forks",
    // Node runs the files as they are, as it does in production, worker threads and instrumentation included.
    experimental: { viteModuleRunner: false },
    // Every stack under test brings processes of its own; more workers only make each other late.
    maxWorkers: 2,
    // These end what hangs; how fast something is, no test asserts.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Left unmended, a flaky test hides a bug.
    retry: 0,
    allowOnly: !onCi,
    reporters: [
      "default",
      new MissingPartsReporter(),
      ...(process.env.TEST_REPORT
        ? [["json", { outputFile: process.env.TEST_REPORT }] satisfies [string, object]]
        : []),
    ],
  },
});
