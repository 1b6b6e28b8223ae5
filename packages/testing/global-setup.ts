import type { TestProject } from "vitest/node";
import type { Dependency } from "./dependencies.ts";
import { clearMemoryFolder } from "./memory-folder.ts";
import {
  missingDependencies,
  type StartedDependencies,
  startDependencies,
} from "./start-dependencies.ts";

let started: Promise<StartedDependencies> | undefined;
let users = 0;

/** The dependencies that only the tests of the project `release` need. */
const ofRelease: ReadonlySet<string> = new Set<Dependency>([
  "python client",
  "release tools",
  "schemathesis",
]);

/**
 * Starts the dependencies that all test files share. Vitest calls this for each project of a run: the first call starts
 * them, and the last teardown stops them. With CI=true a missing dependency fails the run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = Object.entries(missingDependencies())
    .filter(([name]) => project.name === "release" || !ofRelease.has(name))
    .map(([, reason]) => reason);
  if (process.env.CI === "true" && missing.length > 0) throw new Error(missing.join(" "));
  if (users === 0) clearMemoryFolder();
  users++;
  started ??= startDependencies({ fast: true });
  project.provide("statehouseDependencies", (await started).shared);
  return async () => {
    users--;
    if (users === 0) await (await started)?.[Symbol.asyncDispose]();
  };
}
