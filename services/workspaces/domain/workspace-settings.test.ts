import { AppError } from "@statehouse/errors";
import { describe, expect, test } from "vitest";
import { Problems } from "./problems.ts";
import { newWorkspace, type Workspace } from "./workspace.ts";
import { applySettings, unsetSettings, type WorkspaceSettings } from "./workspace-settings.ts";

const now = new Date("2026-01-02T03:04:05.678Z");

function workspace(settings: WorkspaceSettings = {}): Workspace {
  const fresh = newWorkspace(
    { id: "ws-1", organizationId: "org-1", projectId: "prj-1", engineVersion: "1.11.0" },
    now,
  );
  return apply({ name: "network", ...settings }, fresh);
}

function apply(settings: WorkspaceSettings, to = workspace(), nameTaken = false): Workspace {
  const problems = new Problems();
  applySettings(to, settings, { nameTaken, problems });
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

test("what is left out has the default of the specification's table", () => {
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

test("what is left out of an update keeps its value", () => {
  const changed = workspace({ autoApply: true, description: "d", triggerPrefixes: ["a"] });
  apply({ description: "e" }, changed);
  expect(changed).toMatchObject({ autoApply: true, description: "e", triggerPrefixes: ["a"] });
});

test("unset makes absent what can be, and refuses what cannot", () => {
  const changed = workspace({ description: "d", workingDirectory: "w", executionMode: "local" });
  const problems = new Problems();
  unsetSettings(changed, ["description", "working-directory", "execution-mode"], problems);
  problems.throwIfAny();
  expect(changed).toMatchObject({ description: null, workingDirectory: null, executionMode: null });
  unsetSettings(changed, ["auto-apply"], problems);
  expect(problemsOf(() => problems.throwIfAny())).toEqual([
    "auto-apply: Auto apply can't be blank",
  ]);
});

test("state is shared with the organization or with the project, not with both", () => {
  const text = "Project remote state cannot be enabled when global remote state sharing is enabled";
  const both = { globalRemoteState: true, projectRemoteState: true };
  expect(problemsOf(() => workspace(both))).toEqual([`project-remote-state: ${text}`]);
  expect(workspace({ projectRemoteState: true }).projectRemoteState).toBe(true);
});

describe("name", () => {
  test.each(["a", "net_work-01", "A".repeat(90)])("%s is accepted", (name) => {
    expect(workspace({ name }).name).toBe(name);
  });
  test.each(["net work", "net/work", "nétwork", "a.b", "a\0"])("%j is refused", (name) => {
    expect(problemsOf(() => workspace({ name }))).toEqual(["name: Name is invalid"]);
  });
  test("blank, too long and taken are told apart", () => {
    expect(problemsOf(() => workspace({ name: "" }))).toEqual(["name: Name can't be blank"]);
    expect(problemsOf(() => workspace({ name: "a".repeat(10_000) }))).toEqual([
      "name: Name is too long (maximum is 90 characters)",
    ]);
    expect(problemsOf(() => apply({ name: "x" }, workspace(), true))).toEqual([
      "name: Name has already been taken",
    ]);
  });
});

describe("execution mode", () => {
  test.each([
    [{ executionMode: "remote" }, "remote"],
    [{ executionMode: "local", overwritesExecutionMode: true }, "local"],
    [{ operations: true }, "remote"],
    [{ operations: false }, "local"],
    [{ overwritesExecutionMode: false }, null],
  ])("%j gives the workspace %s", (settings, mode) => {
    expect(workspace(settings).executionMode).toBe(mode);
  });

  test.each<[WorkspaceSettings, string]>([
    [{ executionMode: "cloud" }, "execution-mode"],
    [{ executionMode: "agent" }, "agent-pool-id"],
    [{ executionMode: "local", operations: false }, "operations"],
    [{ overwritesExecutionMode: true }, "execution-mode"],
    [{ overwritesExecutionMode: false, executionMode: "local" }, "execution-mode"],
  ])("%j is refused on %s", (settings, field) => {
    expect(problemsOf(() => workspace(settings)).map((text) => text.split(":")[0])).toEqual([
      field,
    ]);
  });

  test("agent without a pool is refused in the words that clients show", () => {
    expect(problemsOf(() => workspace({ executionMode: "agent" }))).toEqual([
      "agent-pool-id: must be specified when using 'agent' execution mode",
    ]);
  });

  test("an overwrite stays when it is confirmed, and ends when it is set to false", () => {
    const own = workspace({ executionMode: "remote" });
    expect(apply({ overwritesExecutionMode: true }, own).executionMode).toBe("remote");
    expect(apply({ overwritesExecutionMode: false }, own).executionMode).toBeNull();
  });
});

test("every problem is told at once", () => {
  const settings = {
    name: "a b",
    executionMode: "cloud",
    operations: true,
    engineVersion: "newest",
    description: "\0",
    triggerPatterns: ["\0"],
  };
  expect(
    problemsOf(() => workspace(settings))
      .map((text) => text.split(":")[0])
      .sort(),
  ).toEqual([
    "description",
    "engine-version",
    "execution-mode",
    "name",
    "operations",
    "trigger-patterns",
  ]);
});
