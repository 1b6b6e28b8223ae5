import {
  type Action,
  allowed,
  authorize,
  type Caller,
  grantsOf,
  refuseUserToken,
} from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import { newId } from "@statehouse/postgres/ids";
import { type WithAllowedActions, withProjectActions } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { timeAfter } from "../auto-destroy/domain.ts";
import { readScopeOf } from "../caller-app.ts";
import { takenText } from "../errors-domain.ts";
import type { OrganizationId, ProjectId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { organizationHidden } from "../organization/app.ts";
import { isOrganizationName, organizationNotFound } from "../organization/domain.ts";
import { touch } from "../revision-domain.ts";
import {
  changesTagBindings,
  checkTagBindingCount,
  checkTagBindings,
  mergeTagBindings,
  type TagBindingInput,
} from "../tag-binding/domain.ts";
import { workspaceUpdated } from "../workspace/events-store.ts";
import {
  applyProjectSettings,
  defaultProjectNotDeletable,
  isProjectName,
  newProject,
  type Project,
  type ProjectSettings,
  type ProjectView,
  projectNotEmpty,
  projectNotFound,
} from "./domain.ts";
import { type ProjectSearch, projectCreated, projectDeleted, projectUpdated } from "./store.ts";

/** The values of a project in a request. Bindings in the request replace all bindings of the project. */
export interface ProjectInput {
  settings: ProjectSettings;
  tagBindings: readonly TagBindingInput[] | undefined;
  /** If true, validates the request, changes nothing, and returns the object as it would be after the change. */
  validateOnly: boolean;
}

/** Throws `notFound`, `forbidden`, or `invalid` with all problems of the request. */
export const createProject = (
  app: App,
  caller: Caller,
  { organizationName, ...input }: ProjectInput & { organizationName: string },
): Promise<WithAllowedActions<ProjectView>> =>
  app.transaction(async (tx) => {
    const { id: organizationId } = await tx.organizations.getByName(organizationName);
    authorize(caller, "project:create", { organizationId }, "organization");
    const project = newProject(newId("prj"), organizationId, app.now());
    await apply(app, tx, project, input, { isNew: true });
    await tx.record(projectCreated(project));
    return withProjectActions(caller)(await tx.projects.commit(project));
  }, input);

/** Changes the settings that the request contains. Throws `notFound`, `forbidden`, or `invalid`. */
export const updateProject = (
  app: App,
  caller: Caller,
  { id, ...input }: ProjectInput & { id: ProjectId },
): Promise<WithAllowedActions<ProjectView>> =>
  app.transaction(async (tx) => {
    const project = await tx.projects.getForUpdate(id);
    const { organizationId } = project;
    authorize(caller, "project:update", { organizationId, projectId: id });
    touch(project, app.now());
    await apply(app, tx, project, input, { isNew: false });
    await tx.record(projectUpdated(project));
    return withProjectActions(caller)(await tx.projects.commit(project));
  }, input);

/**
 * Throws the conflict `default_project` for the default project, or `project_not_empty` if the project has workspaces.
 */
export const deleteProject = (app: App, caller: Caller, id: ProjectId): Promise<void> =>
  app.transaction(async (tx) => {
    const project = await tx.projects.getForUpdate(id);
    const { organizationId } = project;
    authorize(caller, "project:delete", { organizationId, projectId: id });
    const organization = await tx.organizations.get(organizationId);
    if (organization.defaultProjectId === id) throw defaultProjectNotDeletable();
    if (await tx.projects.hasWorkspaces(id)) throw projectNotEmpty();
    touch(project, app.now());
    await tx.record(projectDeleted(project));
    tx.projects.remove(project);
  });

/** Returns a project. Throws `notFound` if it does not exist or the caller cannot read it. */
export async function getProject(
  app: App,
  caller: Caller,
  id: ProjectId,
): Promise<WithAllowedActions<ProjectView>> {
  const project = await app.reads.projects.find(id);
  if (!project) throw projectNotFound();
  authorize(caller, "project:read", { organizationId: project.organizationId, projectId: id });
  return withProjectActions(caller)(project);
}

/** Returns the projects among `ids` that the caller may read. */
export async function batchGetProjects(
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<WithAllowedActions<ProjectView>[]> {
  const grants = grantsOf(caller);
  const projects = await app.reads.projects.batch(ids);
  return projects
    .filter(({ id: projectId, organizationId }) =>
      allowed(grants, "project:read", { organizationId, projectId }),
    )
    .map(withProjectActions(caller));
}

/**
 * Returns a page of the matching projects on which the caller may perform `action`. Throws `notFound` if the caller
 * does not belong to the organization.
 */
export async function listProjects(
  app: App,
  caller: Caller,
  { action, ...search }: ProjectSearch & { action: Action },
): Promise<{ projects: WithAllowedActions<ProjectView>[]; total: number }> {
  if (!isOrganizationName(search.organizationName)) throw organizationNotFound();
  const readable = readScopeOf(caller, action);
  const found = await app.reads.projects.page(search, readable);
  if (!found) throw await organizationHidden(app, search.organizationName);
  refuseUserToken(grantsOf(caller), found.organizationId);
  return { projects: found.rows.map(withProjectActions(caller)), total: found.total };
}

async function apply(
  app: App,
  tx: Tx,
  project: Project,
  { settings, tagBindings }: ProjectInput,
  { isNew }: { isNew: boolean },
): Promise<void> {
  const { id: projectId, organizationId } = project;
  const problems = new Problems();
  const durationBefore = project.autoDestroyActivityDuration;
  const { name, defaultAgentPoolId } = settings;
  const renamed = name !== undefined && name !== project.name && isProjectName(name);
  const poolKnown = await tx.agentPools.isKnown(defaultAgentPoolId, organizationId);
  applyProjectSettings(project, settings, { problems, poolKnown });
  const bindings = tagBindings && mergeTagBindings([], tagBindings);
  if (tagBindings && bindings) {
    checkTagBindings(tagBindings, problems);
    checkTagBindingCount(bindings, problems);
  }
  // A taken name is reported with the other problems or, if there are none, by the unique constraint.
  if (renamed && !problems.areEmpty && (await tx.projects.nameTaken(organizationId, name))) {
    problems.add("name", takenText);
  }
  problems.throwIfAny();
  tx.projects.save(project);
  const { autoDestroyActivityDuration: duration } = project;
  if (!isNew && duration !== durationBefore) await passOnActivityDuration(app, tx, project);
  if (!bindings) return;
  const current = isNew ? [] : await tx.tagBindings.ofProject(projectId);
  if (changesTagBindings(current, bindings)) tx.noteChange(project, "tagBindings");
  const owner = { organizationId, projectId };
  await tx.tagBindings.replace(owner, current, bindings, { now: app.now() });
}

/** Applies the project's new auto-destroy duration to the workspaces that inherit it. The duration starts now. */
async function passOnActivityDuration(app: App, tx: Tx, project: Project): Promise<void> {
  const at = app.now();
  const dueAt = timeAfter(project.autoDestroyActivityDuration, at);
  for (const workspace of await tx.workspaces.passOnActivityDuration(project, { dueAt, at })) {
    tx.noteChange(workspace, "autoDestroyAt");
    tx.noteChange(workspace, "inheritedActivityDuration");
    await tx.record(workspaceUpdated(workspace));
  }
}

/** Called by the access service: returns the projects among `ids` that exist. */
export const listExistingProjects = (app: App, ids: readonly ProjectId[]): Promise<ProjectId[]> =>
  app.reads.projects.listExisting(ids);

/** Called by the access service: returns the organization of a project. Throws `notFound`. */
export async function getProjectPlacement(app: App, id: ProjectId): Promise<OrganizationId> {
  const organizationId = await app.reads.projects.organizationOf(id);
  if (!organizationId) throw projectNotFound();
  return organizationId;
}
