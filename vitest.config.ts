import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { findProgram } from "./packages/local-services/programs.mjs";
import { filesThatUse } from "./packages/testing/files-that-use.ts";
import { memoryFolder } from "./packages/testing/memory-folder.ts";
import MissingDependenciesReporter from "./packages/testing/missing-dependencies-reporter.ts";
import SpecificationReporter from "./test/golden/specification-reporter.ts";

type ProjectOptions = NonNullable<TestProjectInlineConfiguration["test"]>;

const onCi = process.env.CI === "true";

// The folder of a test file is its layer; see CONTRIBUTING.md, "Tests".
const withLocalServices = "{packages,services}/*/test/**/*.test.ts";
const plans = "services/*/test/plans/**/*.test.ts";
const modules = "**/node_modules/**";

/** Security tests of networks, credentials, the database and the size of messages. */
const connections =
  "test/security/{database-*,dense-body,foreign-trace,key-files,large-body,mutual-tls,nats-*,slow-connections}.test.ts";

/**
 * Test files of the layers below that only `npm run test:release` runs, because they take long: they wait for time
 * limits, replace keys of running services, or start programs for each test.
 */
const heavy = [
  connections,
  "packages/local-services/test/turbo.test.ts",
  "services/cli/test/{access,check-addresses,migrate,preflight}.test.ts",
  "test/compat/{data-folder,export,go-tfe,runner-port,without-nats}.test.ts",
  "test/faults/snapshot.test.ts",
  "test/security/{forged-events,late-body,revoked-upload,unstorable-events}.test.ts",
  "test/system/{command-options,quoted-value,webhook-bridge}.test.ts",
];

// The test files that start or use a NATS server while they load or in a hook, and therefore cannot skip their tests
// themselves. On a machine without the server they are excluded; on CI they fail.
const withoutNats =
  onCi || findProgram("nats-server")
    ? []
    : filesThatUse(["ownNats", "sharedNats"], import.meta.dirname, [
        "{packages,services,test}/**/*.test.ts",
      ]);

/** These time limits only end tests that hang; they are not a measure of speed. */
const limits: ProjectOptions = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
};

const unit: ProjectOptions = {
  ...limits,
  name: "unit",
  include: ["{packages,services}/**/*.test.ts"],
  exclude: [modules, withLocalServices],
  isolate: false,
};

/** Layers whose tests use PostgreSQL, NATS and MinIO, which are started once for all layers of a run. */
const onLocalServices: ProjectOptions = {
  ...limits,
  globalSetup: ["packages/testing/global-setup.ts"],
  env: { TMPDIR: memoryFolder() },
};

const service: ProjectOptions = {
  ...onLocalServices,
  name: "service",
  include: [withLocalServices],
  exclude: [modules, plans, ...heavy, ...withoutNats],
  isolate: false,
};

const system: ProjectOptions = {
  ...onLocalServices,
  name: "system",
  include: ["test/{security,system}/**/*.test.ts"],
  exclude: [modules, ...heavy, ...withoutNats],
  setupFiles: ["test/golden/proves-routes.ts"],
  isolate: false,
};

const slow: ProjectOptions = {
  ...onLocalServices,
  name: "slow",
  include: ["test/{compat,faults,golden,model}/**/*.test.ts", plans],
  exclude: [modules, ...heavy, ...withoutNats],
  isolate: false,
};

/** Tests of what is built and published: images, the chart, clients in other languages, installations. */
const release: ProjectOptions = {
  ...onLocalServices,
  name: "release",
  include: ["test/{chart,clients,image,release}/**/*.test.ts"],
};

const releaseHeavy: ProjectOptions = {
  ...system,
  name: "release-heavy",
  include: heavy,
  exclude: [modules, ...withoutNats],
};

/**
 * The matrix and model tests with the services as four processes, connected by gRPC with mutual TLS. `npm test` runs
 * both with all services in one process; of its tests, only the fault tests start the services as separate processes.
 */
const releaseProcesses: ProjectOptions = {
  ...slow,
  name: "release-processes",
  include: ["test/golden/matrix.test.ts", "test/model/model.test.ts"],
  env: { ...slow.env, STATEHOUSE_TEST_PROCESSES: "true" },
};

/**
 * Runs when all other tests have ended, because other tests would slow down its requests, and it counts the requests
 * that time out.
 */
const releaseUpgrade: ProjectOptions = {
  ...onLocalServices,
  name: "release-upgrade",
  include: ["test/upgrade/**/*.test.ts"],
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  test: {
    projects: [
      unit,
      service,
      system,
      slow,
      release,
      releaseHeavy,
      releaseProcesses,
      releaseUpgrade,
    ].map((test) => ({
      extends: true as const,
      test,
    })),
    // The tests use real processes and signals, which threads would share.
    pool: "forks",
    // Node runs the files as they are, as it does in production, worker threads and instrumentation included.
    experimental: { viteModuleRunner: false },
    // Three workers suit two cores: the tests wait for other processes for about a third of their time. More workers
    // would slow each other down.
    maxWorkers: 3,
    // A retry hides the bug that makes a test fail now and then.
    retry: 0,
    allowOnly: !onCi,
    reporters: [
      "default",
      new MissingDependenciesReporter(withoutNats),
      new SpecificationReporter(),
      ...(process.env.TEST_REPORT
        ? [["json", { outputFile: process.env.TEST_REPORT }] satisfies [string, object]]
        : []),
    ],
  },
});
