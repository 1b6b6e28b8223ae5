import type { TestProject } from "vitest/node";
import { missingParts, startParts } from "./start-parts.ts";

/** Starts the parts all test files share, once for the run. With CI=true a missing part fails the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = Object.values(missingParts());
  if (process.env.CI === "true" && missing.length > 0) throw new Error(missing.join(" "));
  const started = await startParts({ fast: true });
  project.provide("statehouseParts", started.parts);
  return async () => started[Symbol.asyncDispose]();
}
