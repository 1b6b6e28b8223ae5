import type { Problems } from "@statehouse/errors";
import semver from "semver";
import { resolveEngineVersion } from "./engine-version.ts";
import type { ExecutionMode } from "./execution.ts";
import { type Plan, planTable } from "./plan.ts";

/** The conditions for health assessments of a workspace. */
export interface AssessmentConditions {
  /** Whether the edition has assessments. */
  offered: boolean;
  plan: Plan;
  executionMode: ExecutionMode;
  engineVersion: string;
  engineReleases: readonly string[];
}

const FIRST_ENGINE_VERSION = "0.15.4";

/** Adds to `problems` every reason why a workspace with requested assessments cannot have them. */
export function checkAssessments(conditions: AssessmentConditions, problems: Problems): void {
  const problem = (detail: string) => problems.add("assessmentsEnabled", detail);
  if (!conditions.offered) {
    problem("Assessments enabled is not available in this edition");
    return;
  }
  if (!planTable[conditions.plan].topTier) {
    problem("Assessments enabled is not available in the organization's plan");
  }
  if (conditions.executionMode !== "remote") {
    problem("Assessments enabled needs the execution mode remote");
  }
  const version = resolveEngineVersion(conditions.engineVersion, conditions.engineReleases);
  // Versions that are not known here are not checked; the runner decides.
  if (version && semver.valid(version) && semver.lt(version, FIRST_ENGINE_VERSION)) {
    problem(`Assessments enabled needs engine version ${FIRST_ENGINE_VERSION} or later`);
  }
}
