import { conflict, notFound, type Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import { checkActivityDuration } from "../auto-destroy/domain.ts";
import { applyDefaultExecution, type DefaultExecutionInput } from "../execution/default-domain.ts";
import type { ExecutionMode } from "../execution/domain.ts";
import type { AgentPoolId, OrganizationId, ProjectId } from "../ids-domain.ts";
import { checkText, limits } from "../text-domain.ts";

export class Project {
  declare id: ProjectId;
  declare organizationId: OrganizationId;
  declare name: string;
  declare description: string | null;
  /** The project's own execution mode; null if the organization's mode applies. */
  declare defaultExecutionMode: ExecutionMode | null;
  /** Set if and only if the project's own mode is `agent`. */
  declare defaultAgentPoolId: AgentPoolId | null;
  /**
   * A workspace that inherits this setting is destroyed this long after its last activity, for example `14d`. Null if
   * such a workspace is not destroyed automatically.
   */
  declare autoDestroyActivityDuration: string | null;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/**
 * Settings in a create or update request. An absent setting has its default on creation and keeps its value on update.
 */
export interface ProjectSettings extends DefaultExecutionInput {
  name?: string | undefined;
  description?: string | undefined;
  /** Null removes the duration. */
  autoDestroyActivityDuration?: string | null | undefined;
  /** From `setting-overwrites.default-execution-mode`: false means that the organization's mode applies. */
  overwritesDefaultExecutionMode?: boolean | undefined;
  /**
   * From `setting-overwrites.default-agent-pool`; must be equal to `overwritesDefaultExecutionMode` if both are given.
   */
  overwritesDefaultAgentPool?: boolean | undefined;
}

interface ValidationContext {
  problems: Problems;
  /** Whether the requested default pool belongs to the organization. */
  poolKnown?: boolean;
}

/** The settings that an update can remove. For these, null in a request differs from an absent value. */
export const removableProjectSettings = ["autoDestroyActivityDuration"] as const;

/** The name of the project that is created with every organization. */
export const DEFAULT_PROJECT_NAME = "Default Project";

const CHARACTERS = /^[A-Za-z0-9 _-]+$/;
const MIN_LENGTH = 3;
const MAX_LENGTH = 40;

/** Returns whether a project name is valid. */
export const isProjectName = (name: string): boolean => problemOfName(name) === undefined;

/** Creates a project with default values; the caller must set its name. */
export const newProject = (id: ProjectId, organizationId: OrganizationId, now: Date): Project =>
  newRow(Project, {
    id,
    organizationId,
    name: "",
    description: null,
    defaultExecutionMode: null,
    defaultAgentPoolId: null,
    autoDestroyActivityDuration: null,
    revision: nextVersion(0n, now),
    createdAt: now,
    updatedAt: now,
  });

/** Creates the default project of an organization. */
export function defaultProject(id: ProjectId, organizationId: OrganizationId, now: Date): Project {
  const project = newProject(id, organizationId, now);
  project.name = DEFAULT_PROJECT_NAME;
  return project;
}

/** Applies settings to the project and adds violated rules to `problems`. */
export function applyProjectSettings(
  project: Project,
  settings: ProjectSettings,
  { problems, poolKnown = false }: ValidationContext,
): void {
  const { name, description, overwritesDefaultExecutionMode: ofMode } = settings;
  const { overwritesDefaultAgentPool: ofPool } = settings;
  const overwrites = ofMode ?? ofPool;
  // The problem of the duration comes first, because clients show the first problem only.
  const { autoDestroyActivityDuration: duration } = settings;
  const durationIsValid = checkActivityDuration(duration, problems);
  if (duration !== undefined && durationIsValid) project.autoDestroyActivityDuration = duration;
  if (name !== undefined) project.name = name;
  const problem = problemOfName(project.name);
  if (problem !== undefined) problems.add("name", problem);
  if (description !== undefined) {
    checkText("description", description, limits.description, problems);
    project.description = description;
  }
  if (ofMode !== undefined && ofPool !== undefined && ofMode !== ofPool) {
    problems.add("overwritesDefaultAgentPool", overwritesDiffer);
  }
  if (overwrites === false) {
    // The mode and pool in the same request are ignored, as for workspaces.
    project.defaultExecutionMode = null;
    project.defaultAgentPoolId = null;
    return;
  }
  applyDefaultExecution(project, settings, { problems, poolKnown });
  if (overwrites === true && project.defaultExecutionMode === null) {
    problems.add("defaultExecutionMode", mustBeGiven);
  }
}

const mustBeGiven =
  "Default execution mode must be given when setting-overwrites.default-execution-mode is true";
// Clients expect exactly these two messages.
const overwritesDiffer =
  "If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.";
const invalidName =
  "Name may only contain letters, digits, spaces, hyphens and underscores, and no space at its ends";

function problemOfName(name: string): string | undefined {
  if (name === "") return "Name can't be blank";
  if (!CHARACTERS.test(name) || name.trim() !== name) return invalidName;
  if (name.length < MIN_LENGTH) return `Name is too short (minimum is ${MIN_LENGTH} characters)`;
  if (name.length > MAX_LENGTH) return `Name is too long (maximum is ${MAX_LENGTH} characters)`;
  return undefined;
}

/** The values of a project's document. */
export interface ProjectView
  extends Pick<
    Project,
    "id" | "organizationId" | "name" | "description" | "autoDestroyActivityDuration" | "createdAt"
  > {
  organizationName: string;
  /** Null for callers who cannot read all workspaces. */
  workspaceCount: number | null;
  isDefault: boolean;
  /**
   * The execution mode that the project's workspaces inherit: the project's own mode or, if it has none, the
   * organization's.
   */
  defaultExecutionMode: ExecutionMode;
  overwritesDefaultExecutionMode: boolean;
  /** Set if and only if `defaultExecutionMode` is `agent`. */
  defaultAgentPoolId: Project["defaultAgentPoolId"];
}

export const projectNotFound = () => notFound("project");

/** Thrown if a project that has workspaces is to be deleted. */
export const projectNotEmpty = () =>
  conflict("project_not_empty", "The project has workspaces; delete or move them first.");

/** Thrown if the default project is to be deleted: workspaces are created in it if a request contains no project. */
export const defaultProjectNotDeletable = () =>
  conflict("default_project", "The default project cannot be deleted.");
