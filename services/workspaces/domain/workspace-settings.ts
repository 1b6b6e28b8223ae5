import { isEngineVersion } from "./engine-version.ts";
import { takenText } from "./errors.ts";
import { isExecutionMode } from "./execution-mode.ts";
import type { Problems } from "./problems.ts";
import { holdsNul, inWords } from "./text.ts";
import type { Workspace } from "./workspace.ts";
import { problemOfWorkspaceName } from "./workspace-name.ts";

const booleans = [
  "allowDestroyPlan",
  "autoApply",
  "autoApplyRunTrigger",
  "fileTriggersEnabled",
  "globalRemoteState",
  "overwritesAgentPool",
  "projectRemoteState",
  "queueAllRuns",
  "speculativeEnabled",
  "structuredRunOutputEnabled",
] as const satisfies readonly (keyof Workspace)[];

/** Texts that may be absent, with the attribute of each. */
const texts = {
  description: "description",
  workingDirectory: "working-directory",
  sourceName: "source-name",
  sourceUrl: "source-url",
} as const satisfies { [Name in keyof Workspace]?: string };

const lists = {
  triggerPatterns: "trigger-patterns",
  triggerPrefixes: "trigger-prefixes",
} as const satisfies { [Name in keyof Workspace]?: string };

/** What is shared with the whole organization is not shared with the project beside that. */
const projectRemoteStateText =
  "Project remote state cannot be enabled when global remote state sharing is enabled";

type Text = keyof typeof texts;
type List = keyof typeof lists;
type Unsettable = keyof typeof unsettable;

type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };

/** What create and update accept; absent: the default on create, the previous value on update. */
export type WorkspaceSettings = Optional<
  Record<(typeof booleans)[number] | "operations" | "overwritesExecutionMode", boolean> &
    Record<Text | "name" | "executionMode" | "engineVersion", string> &
    Record<List, string[]>
>;

/** What an update may set to null, as the wire spells it. */
const unsettable = {
  description: "description",
  "working-directory": "workingDirectory",
  "execution-mode": "executionMode",
} as const satisfies Record<string, keyof Workspace>;

interface Circumstances {
  /** Another workspace of the organization has the wanted name. */
  nameTaken: boolean;
  problems: Problems;
}

/** Applies settings by the rules of the specification's table; `problems` gets whatever breaks one. */
export function applySettings(
  workspace: Workspace,
  settings: WorkspaceSettings,
  { nameTaken, problems }: Circumstances,
): void {
  applyName(workspace, settings, { nameTaken, problems });
  for (const name of booleans) {
    const value = settings[name];
    if (value !== undefined) workspace[name] = value;
  }
  for (const name of Object.keys(texts) as Text[]) {
    const value = settings[name];
    if (value === undefined) continue;
    if (holdsNul(value)) problems.add(texts[name], `${inWords(texts[name])} is invalid`);
    workspace[name] = value;
  }
  for (const name of Object.keys(lists) as List[]) {
    const value = settings[name];
    if (value === undefined) continue;
    if (value.some(holdsNul)) problems.add(lists[name], `${inWords(lists[name])} is invalid`);
    workspace[name] = value;
  }
  if (settings.engineVersion !== undefined) {
    const known = isEngineVersion(settings.engineVersion);
    if (!known) problems.add("engine-version", "Engine version is invalid");
    workspace.engineVersion = settings.engineVersion;
  }
  applyExecutionMode(workspace, settings, problems);
  if (workspace.globalRemoteState && workspace.projectRemoteState) {
    problems.add("project-remote-state", projectRemoteStateText);
  }
}

/** Sets to null what an update names; `problems` gets what cannot be absent. */
export function unsetSettings(
  workspace: Workspace,
  unset: readonly string[],
  problems: Problems,
): void {
  for (const attribute of unset) {
    const known = (Object.keys(unsettable) as Unsettable[]).find((name) => name === attribute);
    if (known) workspace[unsettable[known]] = null;
    else problems.add(attribute, `${inWords(attribute)} can't be blank`);
  }
}

function applyName(
  workspace: Workspace,
  { name }: WorkspaceSettings,
  { nameTaken, problems }: Circumstances,
): void {
  if (name !== undefined) workspace.name = name;
  const problem = problemOfWorkspaceName(workspace.name) ?? (nameTaken ? takenText : undefined);
  if (problem !== undefined) problems.add("name", problem);
}

/** execution-mode, its deprecated form `operations`, and setting-overwrites.execution-mode. */
function applyExecutionMode(
  workspace: Workspace,
  { executionMode, operations, overwritesExecutionMode }: WorkspaceSettings,
  problems: Problems,
): void {
  if (executionMode !== undefined && operations !== undefined) {
    problems.add("operations", "Operations must not be given together with execution-mode");
  }
  const mode = executionMode ?? modeOfOperations(operations);
  if (mode !== undefined) {
    if (!isExecutionMode(mode)) problems.add("execution-mode", "Execution mode is invalid");
    else if (mode === "agent") {
      problems.add("agent-pool-id", "must be specified when using 'agent' execution mode");
    } else workspace.executionMode = mode;
  }
  if (overwritesExecutionMode === true && mode === undefined && workspace.executionMode === null) {
    problems.add(
      "execution-mode",
      "Execution mode must be given when setting-overwrites.execution-mode is true",
    );
  }
  if (overwritesExecutionMode === false) {
    if (mode !== undefined) {
      problems.add(
        "execution-mode",
        "Execution mode must not be given when setting-overwrites.execution-mode is false",
      );
    }
    workspace.executionMode = null;
  }
}

const modeOfOperations = (operations: boolean | undefined): string | undefined => {
  if (operations === undefined) return undefined;
  return operations ? "remote" : "local";
};
