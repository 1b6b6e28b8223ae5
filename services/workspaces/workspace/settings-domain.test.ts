import { AppError, Problems } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { newWorkspace, type Workspace } from "./domain.ts";
import {
  applySettings,
  type ValidationContext,
  type WorkspaceSettings,
} from "./settings-domain.ts";

const now = new Date("2026-01-02T03:04:05.678Z");

function workspace(settings: WorkspaceSettings = {}): Workspace {
  const fresh = newWorkspace(
    { id: "ws-1", organizationId: "org-1", projectId: "prj-1", engineVersion: "1.11.0" },
    now,
  );
  return apply({ name: "network", ...settings }, fresh);
}

const usual: Omit<ValidationContext, "problems"> = {
  nameTaken: false,
  poolKnown: true,
  inherited: { mode: "local", agentPoolId: null },
  assessments: { offered: true, plan: "premium", engineReleases: ["1.11.0", "0.15.3"] },
  now,
};

function apply(
  settings: WorkspaceSettings,
  to = workspace(),
  context: Partial<ValidationContext> = {},
): Workspace {
  const problems = new Problems();
  applySettings(to, settings, { ...usual, problems, ...context });
  problems.throwIfAny();
  return to;
}

function problemsOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map((f) => `${f.field}: ${f.detail}`);
    throw error;
  }
  return [];
}

test("settings absent on creation have the default of the specification's table", () => {
  expect(workspace()).toMatchObject({
    allowDestroyPlan: true,
    autoApply: false,
    executionMode: null,
    fileTriggersEnabled: true,
    globalRemoteState: false,
    queueAllRuns: false,
    speculativeEnabled: true,
    engineVersion: "1.11.0",
    triggerPatterns: [],
    workingDirectory: null,
  });
});

test("settings absent on update keep their value", () => {
  const changed = workspace({
    autoApply: true,
    description: "d",
    triggerPrefixes: { values: ["a"] },
  });
  apply({ description: "e" }, changed);
  expect(changed).toMatchObject({ autoApply: true, description: "e", triggerPrefixes: ["a"] });
});

test("state is shared with the organization or with the project, not with both", () => {
  const text = "Project remote state cannot be enabled when global remote state sharing is enabled";
  const both = { globalRemoteState: true, projectRemoteState: true };
  expect(problemsOf(() => workspace(both))).toEqual([`projectRemoteState: ${text}`]);
  expect(workspace({ projectRemoteState: true }).projectRemoteState).toBe(true);
});

describe("name", () => {
  test.each(["a", "net_work-01", "A".repeat(90)])("%s is accepted", (name) => {
    expect(workspace({ name }).name).toBe(name);
  });
  test.each(["net work", "net/work", "nétwork", "a.b", "a\0"])("%j is refused", (name) => {
    proves("Workspace limits/workspace name characters");
    expect(problemsOf(() => workspace({ name }))).toEqual(["name: Name is invalid"]);
  });
  test("blank, too long and taken names have different texts", () => {
    proves("Workspace/name: unique within the");
    expect(problemsOf(() => workspace({ name: "" }))).toEqual(["name: Name can't be blank"]);
    expect(problemsOf(() => workspace({ name: "a".repeat(10_000) }))).toEqual([
      "name: Name is too long (maximum is 90 characters)",
    ]);
    expect(problemsOf(() => apply({ name: "x" }, workspace(), { nameTaken: true }))).toEqual([
      "name: Name has already been taken",
    ]);
  });
});

test("assessments require a plan, an engine and a mode that support them", () => {
  proves("Workspace/assessments-enabled");
  const input: WorkspaceSettings = {
    assessmentsEnabled: true,
    engineVersion: "0.15.3",
    executionMode: "local",
  };
  const { assessments } = usual;
  const free = { assessments: { ...assessments, plan: "free" as const } };
  expect(problemsOf(() => apply(input, workspace(), free))).toEqual([
    "assessmentsEnabled: Assessments enabled is not available in the organization's plan",
    "assessmentsEnabled: Assessments enabled needs the execution mode remote",
    "assessmentsEnabled: Assessments enabled needs engine version 0.15.4 or later",
  ]);
  const elsewhere = { assessments: { ...assessments, offered: false } };
  expect(problemsOf(() => apply(input, workspace(), elsewhere))).toEqual([
    "assessmentsEnabled: Assessments enabled is not available in this edition",
  ]);
  const able = { assessmentsEnabled: true, executionMode: "remote" };
  expect(workspace(able).assessmentsEnabled).toBe(true);
  // A change of another setting succeeds although assessments were enabled earlier.
  expect(apply({ executionMode: "local" }, workspace(able)).executionMode).toBe("local");
});

const withoutFileTriggers =
  "triggerPatterns: 'trigger_patterns' cannot be populated when 'file_triggers_enabled' is set to false.";
const pattern = { triggerPatterns: { values: ["a/*"] } };

test.each([
  ["a creation", () => workspace({ ...pattern, fileTriggersEnabled: false })],
  ["an update with both", () => apply({ ...pattern, fileTriggersEnabled: false })],
  ["an update", () => apply(pattern, workspace({ fileTriggersEnabled: false }))],
])("%s that results in patterns without file triggers is refused", (_, change) => {
  proves("Real clients/3");
  expect(problemsOf(change)).toEqual([withoutFileTriggers]);
});

test("without file triggers, prefixes and stored patterns are allowed", () => {
  proves("Real clients/3");
  const stored = workspace(pattern);
  expect(apply({ fileTriggersEnabled: false }, stored)).toMatchObject({ triggerPatterns: ["a/*"] });
  expect(apply({ triggerPatterns: { values: [] } }, stored)).toMatchObject({ triggerPatterns: [] });
  const prefixes = { triggerPrefixes: { values: ["a"] } };
  expect(workspace({ ...prefixes, fileTriggersEnabled: false })).toMatchObject({
    triggerPrefixes: ["a"],
  });
  expect(apply({ ...pattern, fileTriggersEnabled: true }, stored)).toMatchObject({
    triggerPatterns: ["a/*"],
  });
});

test("all problems are reported", () => {
  const settings = {
    name: "a b",
    executionMode: "cloud",
    operations: true,
    autoDestroyAt: "soon",
    autoDestroyActivityDuration: "1 week",
    vcsRepo: { tagsRegex: "(" },
    engineVersion: "newest",
    description: "\0",
    triggerPatterns: { values: ["\0"] },
  };
  expect(
    problemsOf(() => workspace(settings))
      .map((text) => text.split(":")[0])
      .sort(),
  ).toEqual([
    "autoDestroyActivityDuration",
    "autoDestroyAt",
    "description",
    "engineVersion",
    "executionMode",
    "name",
    "operations",
    "triggerPatterns",
    "vcsRepo.identifier",
    "vcsRepo.oauthTokenId",
    "vcsRepo.tagsRegex",
  ]);
});
