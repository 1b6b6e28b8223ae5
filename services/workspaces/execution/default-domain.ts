import type { Problems } from "@statehouse/errors";
import type { AgentPoolId } from "../ids-domain.ts";
import { type ExecutionMode, isExecutionMode } from "./domain.ts";

/** The execution mode that workspaces inherit, and the agent pool that they use in the mode `agent`. */
interface DefaultExecution {
  /** Null if a project inherits the mode of its organization. */
  defaultExecutionMode: ExecutionMode | null;
  defaultAgentPoolId: AgentPoolId | null;
}

export interface DefaultExecutionInput {
  defaultExecutionMode?: string | undefined;
  /** Null removes the default agent pool. */
  defaultAgentPoolId?: AgentPoolId | null | undefined;
}

const POOL = "defaultAgentPoolId";

/**
 * Applies the default mode and pool of a request to an organization or project, and adds violated rules to `problems`.
 * Changing the mode from `agent` to another mode clears the pool. `poolKnown` is whether the requested pool belongs to
 * the organization.
 */
export function applyDefaultExecution(
  row: DefaultExecution,
  { defaultExecutionMode: mode, defaultAgentPoolId: pool }: DefaultExecutionInput,
  { problems, poolKnown }: { problems: Problems; poolKnown: boolean },
): void {
  if (mode !== undefined && !isExecutionMode(mode)) {
    problems.add("defaultExecutionMode", "Default execution mode is invalid");
  } else {
    if (mode !== undefined) row.defaultExecutionMode = mode;
    if (pool !== undefined) row.defaultAgentPoolId = pool;
    if (row.defaultExecutionMode !== "agent") {
      if (pool) problems.add(POOL, "must not be specified unless using 'agent' execution mode");
      row.defaultAgentPoolId = null;
    } else if (row.defaultAgentPoolId === null) {
      problems.add(POOL, "must be specified when using 'agent' execution mode");
    }
  }
  if (pool && !poolKnown) problems.add(POOL, "Default agent pool is invalid");
}
