import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import {
  type DefaultExecution,
  type DefaultExecutionInput,
  resolveDefaultExecution,
} from "./default-domain.ts";
import type { ExecutionMode } from "./domain.ts";

const pool = "apool-1234567890123456";
const local: DefaultExecution<ExecutionMode> = {
  defaultExecutionMode: "local",
  defaultAgentPoolId: null,
};
const agent: DefaultExecution<ExecutionMode> = {
  defaultExecutionMode: "agent",
  defaultAgentPoolId: pool,
};

const outcome = (current: DefaultExecution<ExecutionMode>, input: DefaultExecutionInput) => {
  const problems = new Problems();
  const resolved = resolveDefaultExecution(current, input, problems);
  try {
    problems.throwIfAny();
  } catch (error) {
    return error instanceof AppError ? error.message : error;
  }
  return [resolved.defaultExecutionMode, resolved.defaultAgentPoolId];
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
