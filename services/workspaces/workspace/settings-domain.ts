import type { Problems } from "@statehouse/errors";
import { type AutoDestroySettings, applyAutoDestroy } from "../auto-destroy/domain.ts";
import { isEngineVersion } from "../engine-version/domain.ts";
import { takenText } from "../errors-domain.ts";
import {
  applyExecution,
  type ExecutionSettings,
  type InheritedExecution,
} from "../execution/domain.ts";
import { checkText, checkTexts, limits } from "../text-domain.ts";
import { type AssessmentConditions, checkAssessments } from "./assessments-domain.ts";
import { booleanSettings, problemOfWorkspaceName, type Workspace } from "./domain.ts";
import { changeVcsRepo, type VcsRepoSettings } from "./vcs-repo-domain.ts";

/** Settings whose value is a string or null. */
const texts = [
  "description",
  "workingDirectory",
  "sourceName",
  "sourceUrl",
] as const satisfies readonly (keyof Workspace)[];

const lists = [
  "triggerPatterns",
  "triggerPrefixes",
] as const satisfies readonly (keyof Workspace)[];

/** The settings that an update can remove. For these, null in a request differs from an absent value. */
export const removableSettings = [
  "autoDestroyAt",
  "autoDestroyActivityDuration",
  "vcsRepo",
] as const;

/**
 * A workspace's state is shared with its organization or with its project, not with both: the organization contains the
 * project.
 */
const projectRemoteStateText =
  "Project remote state cannot be enabled when global remote state sharing is enabled";

type Optional<T> = { [Name in keyof T]?: T[Name] | undefined };

/**
 * Settings in a create or update request, with the field names of the gRPC message. An absent setting has its default
 * on creation and keeps its value on update.
 */
export type WorkspaceSettings = Optional<
  typeof booleanSettings &
    Record<(typeof texts)[number] | "name" | "engineVersion", string> &
    Record<(typeof lists)[number], { values: string[] }> & {
      assessmentsEnabled: boolean;
      /** Null removes the repository. */
      vcsRepo: VcsRepoSettings | null;
    }
> &
  ExecutionSettings &
  AutoDestroySettings;

/** The values that the validation needs in addition to the workspace and the request. */
export interface ValidationContext {
  /** Whether another workspace of the organization has the requested name. */
  nameTaken: boolean;
  /** Whether the requested agent pool belongs to the organization. */
  poolKnown: boolean;
  /** The execution settings of the project or organization. */
  inherited: InheritedExecution;
  assessments: Pick<AssessmentConditions, "offered" | "plan" | "engineReleases">;
  problems: Problems;
  now: Date;
}

/** Applies settings to the workspace and adds violated rules to `problems`. */
export function applySettings(
  workspace: Workspace,
  settings: WorkspaceSettings,
  context: ValidationContext,
): void {
  const { problems } = context;
  applyName(workspace, settings, context);
  for (const name of Object.keys(booleanSettings) as (keyof typeof booleanSettings)[]) {
    const value = settings[name];
    if (value !== undefined) workspace[name] = value;
  }
  for (const name of texts) {
    const value = settings[name];
    if (value === undefined) continue;
    checkText(name, value, limits[name], problems);
    workspace[name] = value;
  }
  applyTriggers(workspace, settings, problems);
  if (settings.engineVersion !== undefined) {
    const known = isEngineVersion(settings.engineVersion);
    if (!known) problems.add("engineVersion", "Engine version is invalid");
    workspace.engineVersion = settings.engineVersion;
  }
  applyExecution(workspace, settings, context);
  applyAutoDestroy(workspace, settings, problems, context.now);
  if (settings.vcsRepo === null) workspace.vcsRepo = null;
  else if (settings.vcsRepo) {
    workspace.vcsRepo = changeVcsRepo(workspace.vcsRepo, settings.vcsRepo, problems);
  }
  applyAssessments(workspace, settings, context);
  if (workspace.globalRemoteState && workspace.projectRemoteState) {
    problems.add("projectRemoteState", projectRemoteStateText);
  }
}

/** In the words that clients compare, which name the attributes as the configuration provider does. */
const patternsWithoutFileTriggersText =
  "'trigger_patterns' cannot be populated when 'file_triggers_enabled' is set to false.";

/**
 * Applies the two kinds of triggers, which exclude one another: setting one kind removes the other. Patterns that are
 * stored remain when file triggers are switched off.
 */
function applyTriggers(
  workspace: Workspace,
  { triggerPatterns: patterns, triggerPrefixes: prefixes }: WorkspaceSettings,
  problems: Problems,
): void {
  if (!patterns && !prefixes) return;
  const triggers = {
    triggerPatterns: patterns?.values ?? [],
    triggerPrefixes: prefixes?.values ?? [],
  };
  if (triggers.triggerPatterns.length > 0 && triggers.triggerPrefixes.length > 0) {
    problems.add(
      "triggerPatterns",
      "Trigger patterns cannot be given together with trigger prefixes; expected one of them.",
    );
  }
  if (triggers.triggerPatterns.length > 0 && !workspace.fileTriggersEnabled) {
    problems.add("triggerPatterns", patternsWithoutFileTriggersText);
  }
  for (const name of lists) {
    const value = triggers[name];
    checkTexts(name, value, { entries: limits.triggers, characters: limits.trigger }, problems);
    workspace[name] = value;
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
  const executionMode = workspace.executionMode ?? inherited.mode;
  // If the execution mode is no longer `remote`, assessments are disabled, unless the request sets them explicitly.
  if (assessmentsEnabled === undefined && executionMode !== "remote") {
    workspace.assessmentsEnabled = false;
  }
  if (assessmentsEnabled === undefined) return;
  workspace.assessmentsEnabled = assessmentsEnabled;
  if (!assessmentsEnabled) return;
  const { engineVersion } = workspace;
  checkAssessments({ ...assessments, engineVersion, executionMode }, problems);
}
