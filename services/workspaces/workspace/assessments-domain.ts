import type { Problems } from "@statehouse/errors";
import semver from "semver";
import { resolveEngineVersion } from "../engine-version/domain.ts";
import type { ExecutionMode } from "../execution/domain.ts";
import { type Plan, planTable } from "../organization/plan-domain.ts";

/** The values that decide whether a workspace can have health assessments. */
export interface AssessmentConditions {
  /** Whether the edition (self-hosted or hosted) includes health assessments. */
  offered: boolean;
  plan: Plan;
  executionMode: ExecutionMode;
  engineVersion: string;
  engineReleases: readonly string[];
}

const FIRST_ENGINE_VERSION = "0.15.4";

/** Adds to `problems` every reason why health assessments cannot be enabled for the workspace. */
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
  // Unknown versions are accepted; the runner decides whether it supports assessments with them.
  if (version && semver.valid(version) && semver.lt(version, FIRST_ENGINE_VERSION)) {
    problem(`Assessments enabled needs engine version ${FIRST_ENGINE_VERSION} or later`);
  }
}
