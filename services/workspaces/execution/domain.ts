import type { Problems } from "@statehouse/errors";
import type { AgentPoolId } from "../ids-domain.ts";

/** The settings of a workspace that determine where its runs are executed. */
export interface Execution {
  /** Null if the workspace inherits the execution mode of its project or organization. */
  executionMode: ExecutionMode | null;
  agentPoolId: AgentPoolId | null;
  overwritesAgentPool: boolean;
}

export const inheritedExecution: Execution = {
  executionMode: null,
  agentPoolId: null,
  overwritesAgentPool: false,
};

/** The execution mode and agent pool that a workspace inherits from its project or organization. */
export interface InheritedExecution {
  mode: ExecutionMode;
  agentPoolId: AgentPoolId | null;
}

export interface ExecutionSettings {
  executionMode?: string | undefined;
  /** Deprecated: true means `remote`, false means `local`. */
  operations?: boolean | undefined;
  agentPoolId?: AgentPoolId | undefined;
  /** From `setting-overwrites`: false means that the workspace inherits the value again. */
  overwritesExecutionMode?: boolean | undefined;
  overwritesAgentPool?: boolean | undefined;
}

interface ValidationContext {
  inherited: InheritedExecution;
  /** Whether the requested pool belongs to the organization. */
  poolKnown: boolean;
  problems: Problems;
}

/**
 * Applies the attributes `execution-mode` (or its deprecated form `operations`), `agent-pool-id` and
 * `setting-overwrites`, and adds violated rules to `problems`.
 */
export function applyExecution(
  workspace: Execution,
  settings: ExecutionSettings,
  { inherited, poolKnown, problems }: ValidationContext,
): void {
  const effective = withoutInherited(settings);
  if (Object.values(effective).every((value) => value === undefined)) return;
  applyMode(workspace, effective, problems);
  const { agentPoolId, overwritesAgentPool } = effective;
  const mode = workspace.executionMode ?? inherited.mode;
  const problem = (detail: string) => problems.add("agentPoolId", detail);
  if (overwritesAgentPool !== undefined) workspace.overwritesAgentPool = overwritesAgentPool;
  if (overwritesAgentPool === false) workspace.agentPoolId = null;
  if (agentPoolId) {
    if (mode !== "agent") problem("must not be specified unless using 'agent' execution mode");
    else if (!poolKnown) problem("Agent pool is invalid");
    workspace.agentPoolId = agentPoolId;
    workspace.overwritesAgentPool = overwritesAgentPool ?? true;
  }
  // A workspace whose mode is not `agent` has no agent pool.
  if (mode !== "agent") workspace.agentPoolId = null;
  if (mode !== "agent" || workspace.agentPoolId !== null) return;
  if (inherited.agentPoolId === null || overwritesAgentPool === true) {
    problem("must be specified when using 'agent' execution mode");
  }
  // Without a pool of its own the workspace inherits the pool. Its own pool may have been cleared by an earlier change
  // of the mode.
  workspace.overwritesAgentPool = false;
}

/**
 * Returns the settings without the values that the same request declares as inherited in `setting-overwrites`. Clients
 * such as the Terraform provider `tfe` send a value together with this declaration, and expect that it is ignored.
 */
function withoutInherited({
  executionMode,
  operations,
  agentPoolId,
  overwritesExecutionMode,
  overwritesAgentPool,
}: ExecutionSettings): ExecutionSettings {
  const inheritsMode = overwritesExecutionMode === false;
  const inheritsPool = overwritesAgentPool === false || (inheritsMode && !overwritesAgentPool);
  return {
    executionMode: inheritsMode ? undefined : executionMode,
    operations: inheritsMode ? undefined : operations,
    agentPoolId: inheritsPool ? undefined : agentPoolId,
    overwritesExecutionMode,
    overwritesAgentPool,
  };
}

function applyMode(
  workspace: Execution,
  { executionMode, operations, overwritesExecutionMode }: ExecutionSettings,
  problems: Problems,
): void {
  if (executionMode !== undefined && operations !== undefined) {
    problems.add("operations", "Operations must not be given together with execution-mode");
  }
  const mode = executionMode ?? modeOfOperations(operations);
  if (mode !== undefined) {
    if (isExecutionMode(mode)) workspace.executionMode = mode;
    else problems.add("executionMode", "Execution mode is invalid");
  }
  if (overwritesExecutionMode === true && mode === undefined && workspace.executionMode === null) {
    problems.add(
      "executionMode",
      "Execution mode must be given when setting-overwrites.execution-mode is true",
    );
  }
  if (overwritesExecutionMode === false) workspace.executionMode = null;
}

const modeOfOperations = (operations: boolean | undefined): string | undefined => {
  if (operations === undefined) return undefined;
  return operations ? "remote" : "local";
};

/**
 * The modes in which a workspace's runs are executed. With `local`, users run plans on their own machines, and
 * Statehouse only stores the state.
 */
export const executionModes = ["remote", "local", "agent"] as const;

export type ExecutionMode = (typeof executionModes)[number];

/** Returns whether a string of a request is an execution mode. */
export const isExecutionMode = (mode: string): mode is ExecutionMode =>
  executionModes.some((known) => known === mode);
