import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import { applyDefaultExecution, type DefaultExecutionInput } from "./default-domain.ts";

const pool = "apool-1234567890123456";
const local = { defaultExecutionMode: "local", defaultAgentPoolId: null } as const;
const agent = { defaultExecutionMode: "agent", defaultAgentPoolId: pool } as const;

const outcome = (current: typeof local | typeof agent, input: DefaultExecutionInput) => {
  const problems = new Problems();
  const row = { ...current };
  applyDefaultExecution(row, input, { problems, poolKnown: true });
  try {
    problems.throwIfAny();
  } catch (error) {
    return error instanceof AppError ? error.message : error;
  }
  return [row.defaultExecutionMode, row.defaultAgentPoolId];
};

test.each([
  ["nothing given", local, {}, ["local", null]],
  ["another mode", local, { defaultExecutionMode: "remote" }, ["remote", null]],
  [
    "agent with its pool",
    local,
    { defaultExecutionMode: "agent", defaultAgentPoolId: pool },
    ["agent", pool],
  ],
  ["leaving agent", agent, { defaultExecutionMode: "remote" }, ["remote", null]],
  ["staying with agent", agent, { defaultExecutionMode: "agent" }, ["agent", pool]],
  [
    "agent without a pool",
    local,
    { defaultExecutionMode: "agent" },
    "must be specified when using 'agent' execution mode",
  ],
  [
    "removing the pool of the mode agent",
    agent,
    { defaultAgentPoolId: null },
    "must be specified when using 'agent' execution mode",
  ],
  [
    "a pool in another mode",
    local,
    { defaultAgentPoolId: pool },
    "must not be specified unless using 'agent' execution mode",
  ],
  [
    "an unknown mode",
    local,
    { defaultExecutionMode: "cloud" },
    "Default execution mode is invalid",
  ],
] as const)("%s", (_, current, input, expected) => {
  expect(outcome(current, input)).toEqual(expected);
});
