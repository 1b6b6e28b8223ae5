import type { TestProject } from "vitest/node";
import { missingParts, type StartedParts, startParts } from "./start-parts.ts";

let started: Promise<StartedParts> | undefined;
let users = 0;

/**
 * Starts the dependencies that all test files share. Vitest calls it for each project of a run: the first call starts
 * them, the last teardown stops them. With CI=true a missing dependency fails the run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = Object.values(missingParts());
  if (process.env.CI === "true" && missing.length > 0) throw new Error(missing.join(" "));
  users++;
  started ??= startParts({ fast: true });
  project.provide("statehouseParts", (await started).parts);
  return async () => {
    users--;
    if (users === 0) await (await started)?.[Symbol.asyncDispose]();
  };
}
