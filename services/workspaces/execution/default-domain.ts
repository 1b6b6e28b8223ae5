import type { Problems } from "@statehouse/errors";
import type { AgentPoolId } from "../ids-domain.ts";
import { type ExecutionMode, isExecutionMode } from "./domain.ts";

/** The execution mode that workspaces inherit, and the agent pool that they use in the mode `agent`. */
export interface DefaultExecution<Mode> {
  defaultExecutionMode: Mode;
  defaultAgentPoolId: AgentPoolId | null;
}

export interface DefaultExecutionInput {
  defaultExecutionMode?: string | undefined;
  /** Null removes the default agent pool. */
  defaultAgentPoolId?: AgentPoolId | null | undefined;
}

const POOL = "defaultAgentPoolId";

export const unknownDefaultAgentPool = (problems: Problems): void =>
  problems.add(POOL, "Default agent pool is invalid");

/**
 * Returns the default mode and pool that an organization or project has after a request, and adds contradictions to
 * `problems`. Changing the mode from `agent` to another mode clears the pool.
 */
export function resolveDefaultExecution<Mode extends ExecutionMode | null>(
  current: DefaultExecution<Mode | ExecutionMode>,
  { defaultExecutionMode: mode, defaultAgentPoolId: agentPoolId }: DefaultExecutionInput,
  problems: Problems,
): DefaultExecution<Mode | ExecutionMode> {
  if (mode !== undefined && !isExecutionMode(mode)) {
    problems.add("defaultExecutionMode", "Default execution mode is invalid");
    return current;
  }
  const defaultExecutionMode: Mode | ExecutionMode = mode ?? current.defaultExecutionMode;
  if (defaultExecutionMode !== "agent") {
    if (agentPoolId)
      problems.add(POOL, "must not be specified unless using 'agent' execution mode");
    return { defaultExecutionMode, defaultAgentPoolId: null };
  }
  const defaultAgentPoolId = agentPoolId === undefined ? current.defaultAgentPoolId : agentPoolId;
  if (defaultAgentPoolId === null) {
    problems.add(POOL, "must be specified when using 'agent' execution mode");
  }
  return { defaultExecutionMode, defaultAgentPoolId };
}
