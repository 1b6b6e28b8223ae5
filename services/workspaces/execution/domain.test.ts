import { AppError, Problems } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { applyExecution, type Execution, type ExecutionSettings } from "./domain.ts";

const POOL = "apool-1";
const nothing: Execution = { executionMode: null, agentPoolId: null, overwritesAgentPool: false };
const withAgents: Execution = {
  executionMode: "agent",
  agentPoolId: POOL,
  overwritesAgentPool: true,
};
const inheritsLocal = { mode: "local", agentPoolId: null } as const;
const inheritsAgents = { mode: "agent", agentPoolId: "apool-9" } as const;

function apply(
  settings: ExecutionSettings,
  from = nothing,
  inherited: typeof inheritsLocal | typeof inheritsAgents = inheritsLocal,
  poolKnown = true,
): Execution | string[] {
  const problems = new Problems();
  const workspace = { ...from };
  applyExecution(workspace, settings, { inherited, poolKnown, problems });
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map((f) => `${f.field}: ${f.detail}`);
    throw error;
  }
  return workspace;
}

describe("execution-mode", () => {
  test.each([
    [{ executionMode: "remote" }, "remote"],
    [{ executionMode: "local", overwritesExecutionMode: true }, "local"],
    [{ operations: true }, "remote"],
    [{ operations: false }, "local"],
    [{ overwritesExecutionMode: false }, null],
    [{ overwritesExecutionMode: false, executionMode: "remote" }, null],
    [{ overwritesExecutionMode: false, operations: true }, null],
  ])("%j results in %s", (settings, executionMode) => {
    proves("Workspace/execution-mode");
    expect(apply(settings)).toMatchObject({ executionMode });
  });

  test.each<[ExecutionSettings, string]>([
    [{ executionMode: "cloud" }, "executionMode: Execution mode is invalid"],
    [
      { executionMode: "local", operations: false },
      "operations: Operations must not be given together with execution-mode",
    ],
    [
      { overwritesExecutionMode: true },
      "executionMode: Execution mode must be given when setting-overwrites.execution-mode is true",
    ],
  ])("%j is refused", (settings, problem) => {
    proves("Workspace/execution-mode", "Workspace/operations");
    expect(apply(settings)).toEqual([problem]);
  });

  test("an override is kept when repeated and ends when set to false", () => {
    proves("Workspace/setting-overwrites");
    const own: Execution = { ...nothing, executionMode: "remote" };
    expect(apply({ overwritesExecutionMode: true }, own)).toEqual(own);
    expect(apply({ overwritesExecutionMode: false }, own)).toEqual(nothing);
  });
});

describe("agent-pool-id", () => {
  test.each<ExecutionSettings>([
    { agentPoolId: POOL, overwritesExecutionMode: false },
    { agentPoolId: POOL, overwritesExecutionMode: false, executionMode: "agent" },
    { agentPoolId: POOL, overwritesAgentPool: false },
  ])("is ignored with %j, which makes it inherited", (settings) => {
    expect(apply(settings, nothing, inheritsAgents)).toMatchObject({
      agentPoolId: null,
      overwritesAgentPool: false,
    });
  });

  const needed = ["agentPoolId: must be specified when using 'agent' execution mode"];
  const refused = ["agentPoolId: must not be specified unless using 'agent' execution mode"];

  test("is given with the mode agent and is then an override", () => {
    expect(apply({ executionMode: "agent", agentPoolId: POOL })).toEqual(withAgents);
    expect(apply({ agentPoolId: POOL }, nothing, inheritsAgents)).toEqual({
      ...withAgents,
      executionMode: null,
    });
    expect(apply({ agentPoolId: "apool-2" }, withAgents)).toMatchObject({ agentPoolId: "apool-2" });
  });

  test("is required for the mode agent unless a pool is inherited", () => {
    proves("Workspace/agent-pool-id");
    expect(apply({ executionMode: "agent" })).toEqual(needed);
    expect(apply({ executionMode: "agent" }, withAgents)).toEqual(withAgents);
    expect(apply({ executionMode: "agent" }, nothing, inheritsAgents)).toEqual({
      ...nothing,
      executionMode: "agent",
    });
    expect(apply({ overwritesAgentPool: false }, withAgents)).toEqual(needed);
    expect(apply({ overwritesAgentPool: false }, withAgents, inheritsAgents)).toEqual({
      ...nothing,
      executionMode: "agent",
    });
  });

  test("is inherited again when the override ends, after another mode had cleared it", () => {
    proves("Workspace/setting-overwrites");
    const left: Execution = { ...withAgents, executionMode: "local", agentPoolId: null };
    expect(apply({ executionMode: "local" }, withAgents)).toEqual(left);
    expect(apply({ overwritesExecutionMode: false }, left, inheritsAgents)).toEqual(nothing);
    const both = { overwritesExecutionMode: false, overwritesAgentPool: true };
    expect(apply(both, left, inheritsAgents)).toEqual(needed);
  });

  test.each<ExecutionSettings>([
    { agentPoolId: POOL },
    { agentPoolId: POOL, executionMode: "remote" },
    { agentPoolId: POOL, executionMode: "local" },
    { agentPoolId: POOL, operations: true },
    { agentPoolId: POOL, operations: false },
  ])("cannot be given with %j", (settings) => {
    proves("Workspace/agent-pool-id");
    expect(apply(settings)).toEqual(refused);
  });

  test("must belong to the organization", () => {
    proves("Workspace/agent-pool-id");
    const settings = { executionMode: "agent", agentPoolId: "apool-8" } as const;
    expect(apply(settings, nothing, inheritsLocal, false)).toEqual([
      "agentPoolId: Agent pool is invalid",
    ]);
  });

  test("is cleared when the mode changes from agent", () => {
    expect(apply({ executionMode: "remote" }, withAgents)).toMatchObject({ agentPoolId: null });
    expect(apply({ overwritesExecutionMode: false }, withAgents)).toMatchObject({
      agentPoolId: null,
    });
  });
});

test("is unchanged by a request without it", () => {
  const odd: Execution = { ...withAgents, agentPoolId: null };
  expect(apply({ executionMode: undefined }, odd)).toEqual(odd);
});
