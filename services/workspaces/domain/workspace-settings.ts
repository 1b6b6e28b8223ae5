import type { Problems } from "@statehouse/errors";
import { type AssessmentConditions, checkAssessments } from "./assessments.ts";
import { type AutoDestroySettings, applyAutoDestroy } from "./auto-destroy.ts";
import { isEngineVersion } from "./engine-version.ts";
import { takenText } from "./errors.ts";
import { applyExecution, type ExecutionSettings, type InheritedExecution } from "./execution.ts";
import { checkText, checkTexts, limits } from "./text.ts";
import { changeVcsRepo, type VcsRepoSettings } from "./vcs-repo.ts";
import { problemOfWorkspaceName, type Workspace } from "./workspace.ts";

const booleans = [
  "allowDestroyPlan",
  "autoApply",
  "autoApplyRunTrigger",
  "fileTriggersEnabled",
  "globalRemoteState",
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

type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };

/** What create and update accept; absent: the default on create, the previous value on update. */
export type WorkspaceSettings = Optional<
  Record<(typeof booleans)[number] | "assessmentsEnabled", boolean> &
    Record<Text | "name" | "engineVersion", string> &
    Record<List, string[]>
> & {
  execution?: ExecutionSettings;
  autoDestroy?: AutoDestroySettings;
  /** Null removes the link. */
  vcsRepo?: VcsRepoSettings | null | undefined;
};

/** What the rules need to know beside workspace and request. */
export interface ValidationContext {
  /** Another workspace of the organization has the wanted name. */
  nameTaken: boolean;
  /** The wanted agent pool is one of the organization's. */
  poolKnown: boolean;
  /** What project and organization say. */
  inherited: InheritedExecution;
  assessments: Pick<AssessmentConditions, "offered" | "plan" | "engineReleases">;
  problems: Problems;
  now: Date;
}

/** Applies settings by the rules of the specification's table; `problems` gets whatever breaks one. */
export function applySettings(
  workspace: Workspace,
  settings: WorkspaceSettings,
  context: ValidationContext,
): void {
  const { problems } = context;
  applyName(workspace, settings, context);
  for (const name of booleans) {
    const value = settings[name];
    if (value !== undefined) workspace[name] = value;
  }
  for (const name of Object.keys(texts) as Text[]) {
    const value = settings[name];
    if (value === undefined) continue;
    checkText(texts[name], value, limits[name], problems);
    workspace[name] = value;
  }
  for (const name of Object.keys(lists) as List[]) {
    const value = settings[name];
    if (value === undefined) continue;
    const most = { entries: limits.triggers, characters: limits.trigger };
    checkTexts(lists[name], value, most, problems);
    workspace[name] = value;
  }
  if (settings.engineVersion !== undefined) {
    const known = isEngineVersion(settings.engineVersion);
    if (!known) problems.add("engine-version", "Engine version is invalid");
    workspace.engineVersion = settings.engineVersion;
  }
  applyExecution(workspace, settings.execution ?? {}, context);
  applyAutoDestroy(workspace, settings.autoDestroy ?? {}, problems, context.now);
  if (settings.vcsRepo === null) workspace.vcsRepo = null;
  else if (settings.vcsRepo) {
    workspace.vcsRepo = changeVcsRepo(workspace.vcsRepo, settings.vcsRepo, problems);
  }
  applyAssessments(workspace, settings, context);
  if (workspace.globalRemoteState && workspace.projectRemoteState) {
    problems.add("project-remote-state", projectRemoteStateText);
  }
}

function applyName(
  workspace: Workspace,
  { name }: WorkspaceSettings,
  { nameTaken, problems }: Pick<ValidationContext, "nameTaken" | "problems">,
): void {
  if (name !== undefined) workspace.name = name;
  const problem = problemOfWorkspaceName(workspace.name) ?? (nameTaken ? takenText : undefined);
  if (problem !== undefined) problems.add("name", problem);
}

function applyAssessments(
  workspace: Workspace,
  { assessmentsEnabled }: WorkspaceSettings,
  { inherited, assessments, problems }: ValidationContext,
): void {
  if (assessmentsEnabled === undefined) return;
  workspace.assessmentsEnabled = assessmentsEnabled;
  if (!assessmentsEnabled) return;
  const { engineVersion, executionMode } = workspace;
  const conditions = { ...assessments, engineVersion };
  checkAssessments({ ...conditions, executionMode: executionMode ?? inherited.mode }, problems);
}
