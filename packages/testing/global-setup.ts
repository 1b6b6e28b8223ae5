import type { TestProject } from "vitest/node";
import {
  missingDependencies,
  type StartedDependencies,
  startDependencies,
} from "./start-dependencies.ts";

let started: Promise<StartedDependencies> | undefined;
let users = 0;

/**
 * Starts the dependencies that all test files share. Vitest calls this for each project of a run: the first call starts
 * them, and the last teardown stops them. With CI=true a missing dependency fails the run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { "release tools": releaseTools, ...others } = missingDependencies();
  const missing = Object.values(
    // Only tests of this project build and run the image.
    project.name === "release" && releaseTools ? { ...others, releaseTools } : others,
  );
  if (process.env.CI === "true" && missing.length > 0) throw new Error(missing.join(" "));
  users++;
  started ??= startDependencies({ fast: true });
  project.provide("statehouseDependencies", (await started).shared);
  return async () => {
    users--;
    if (users === 0) await (await started)?.[Symbol.asyncDispose]();
  };
}
