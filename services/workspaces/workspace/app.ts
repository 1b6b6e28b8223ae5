import {
  allowed,
  authorize,
  type Caller,
  grantsOf,
  refuseUserToken,
} from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import { newId } from "@statehouse/postgres/ids";
import { forEachConcurrently } from "@statehouse/runtime";
import { withConsumerActions } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { inheritActivityDuration } from "../auto-destroy/domain.ts";
import { readScopeOf, targetOf } from "../caller-app.ts";
import { latestRelease } from "../engine-version/domain.ts";
import type { ProjectId, WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { organizationHidden } from "../organization/app.ts";
import {
  isOrganizationName,
  organizationNotFound,
  workspaceLimitReached,
} from "../organization/domain.ts";
import type { Plan } from "../organization/plan-domain.ts";
import { projectNotFound } from "../project/domain.ts";
import { touch } from "../revision-domain.ts";
import {
  checkedBindings,
  checkedTags,
  checkOverrides,
  replaceWorkspaceTags,
} from "../tag-binding/app.ts";
import { flatTagsOf, type TagBindingInput } from "../tag-binding/domain.ts";
import { syncPendingPlacement } from "../workspace-placement/app.ts";
import { moveWorkspace } from "../workspace-placement/domain.ts";
import { type WorkspaceDocument, workspaceDocument, workspaceDocuments } from "./document-app.ts";
import {
  newWorkspace,
  type Workspace,
  type WorkspaceNameRef,
  type WorkspaceRef,
  workspaceNotFound,
} from "./domain.ts";
import { workspaceCreated, workspaceUpdated } from "./events-store.ts";
import type { WorkspaceSearch } from "./search-store.ts";
import {
  applySettings,
  type ValidationContext,
  type WorkspaceSettings,
} from "./settings-domain.ts";
import type { CreationContext } from "./store.ts";

/** The maximum number of moved workspaces whose placements are sent to the state service at the same time. */
const SYNCED_AT_ONCE = 8;

/** The values of a workspace in a request, in addition to its settings. */
export interface WorkspaceInput {
  settings: WorkspaceSettings;
  /** If undefined, a new workspace is created in the default project, and an update does not move the workspace. */
  projectId: ProjectId | undefined;
  /** Flat tags; used on creation only. */
  tagNames: readonly string[] | undefined;
  /** On update, these bindings replace all bindings of the workspace except its flat tags. */
  tagBindings: readonly TagBindingInput[] | undefined;
  /** If true, validates the request, changes nothing, and returns the object as it would be after the change. */
  validateOnly: boolean;
}

/** Throws `notFound`, `forbidden`, or `invalid` with all problems of the request. */
export async function createWorkspace(
  app: App,
  caller: Caller,
  { organizationName, validateOnly, ...input }: WorkspaceInput & { organizationName: string },
): Promise<WorkspaceDocument> {
  const view = await app.transaction(
    async (tx) => {
      const name = input.settings.name ?? "";
      const context = await tx.workspaces.creationContext({
        ...{ organizationName, projectId: input.projectId, name },
      });
      const { organizationId, projectId, inherited, plan, nameTaken } = context;
      authorize(caller, "organization:read", { organizationId });
      if (!context.projectExists) throw projectNotFound();
      authorize(caller, "project:create-workspace", { organizationId, projectId });
      const engineVersion = latestRelease(app.settings.engineReleases) ?? "latest";
      const workspace = newWorkspace(
        { id: newId("ws"), organizationId, projectId, engineVersion },
        app.now(),
      );
      inheritActivityDuration(workspace, context.autoDestroyActivityDuration, app.now());
      workspace.globalRemoteState = context.defaultRemoteStateAccess;
      const problems = new Problems();
      const { settings } = input;
      const poolKnown = await tx.agentPools.isKnown(settings.agentPoolId, organizationId);
      const conditions = validationContext(app, { poolKnown, inherited, plan });
      applySettings(workspace, settings, { ...conditions, nameTaken, problems });
      const tags = { current: [], ...checkedTags(input, problems) };
      await checkOverrides(tx, workspace, tags, problems);
      await checkLimit(tx, context, problems);
      problems.throwIfAny();
      await tx.record(workspaceCreated(workspace));
      if (tags.after.size > 0) {
        // The workspace is inserted before its bindings, which refer to its row.
        tx.workspaces.save(workspace);
        await replaceWorkspaceTags(app, tx, workspace, tags);
      }
      return tx.workspaces.commit(workspace);
    },
    { validateOnly },
  );
  return workspaceDocument(app, caller, view);
}

/** Adds a problem if the organization has reached its workspace limit. */
async function checkLimit(
  tx: Tx,
  { organizationId, workspaceLimit }: Pick<CreationContext, "organizationId" | "workspaceLimit">,
  problems: Problems,
): Promise<void> {
  if (workspaceLimit === null) return;
  const count = await tx.workspaces.countForLimit(organizationId);
  if (count >= workspaceLimit) problems.add("", workspaceLimitReached(workspaceLimit));
}

/**
 * Returns a workspace. Throws `notFound` if it does not exist or the caller cannot read it.
 */
export async function getWorkspace(
  app: App,
  caller: Caller,
  ref: WorkspaceRef,
): Promise<WorkspaceDocument> {
  const workspace = await app.reads.workspaces.find(ref);
  if (!workspace) throw workspaceNotFound();
  if (await mayShowAsConsumer(app, caller, workspace)) {
    return { ...withConsumerActions(app, workspace), lockedStale: null };
  }
  authorize(caller, "workspace:read", targetOf(workspace));
  return workspaceDocument(app, caller, workspace);
}

/**
 * Returns the id of the workspace that has this name now. Throws `notFound` if the workspace does not exist or the
 * caller cannot read it.
 */
export async function getWorkspaceId(
  app: App,
  caller: Caller,
  ref: WorkspaceNameRef,
): Promise<WorkspaceId> {
  const workspace = await app.reads.workspaces.findIds(ref);
  if (!workspace) throw workspaceNotFound();
  if (!(await mayShowAsConsumer(app, caller, workspace))) {
    authorize(caller, "workspace:read", targetOf(workspace));
  }
  return workspace.id;
}

/** Returns the workspaces among `ids` that the caller may read. */
export async function batchGetWorkspaces(
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<WorkspaceDocument[]> {
  const grants = grantsOf(caller);
  const workspaces = await app.reads.workspaces.batch(ids);
  const readable = workspaces.filter((workspace) =>
    allowed(grants, "workspace:read", targetOf(workspace)),
  );
  return workspaceDocuments(app, caller, readable);
}

/**
 * Returns a page of the matching workspaces that the caller may read. Throws `notFound` if the caller does not belong
 * to the organization.
 */
export async function listWorkspaces(
  app: App,
  caller: Caller,
  search: WorkspaceSearch,
): Promise<{ workspaces: WorkspaceDocument[]; total: number }> {
  if (!isOrganizationName(search.organizationName)) throw organizationNotFound();
  const found = await app.reads.workspaces.search(search, readScopeOf(caller, "workspace:read"));
  if (!found) throw await organizationHidden(app, search.organizationName);
  refuseUserToken(grantsOf(caller), found.organizationId);
  return {
    workspaces: await workspaceDocuments(app, caller, found.workspaces),
    total: found.total,
  };
}

/**
 * Changes the settings that the request contains, and moves the workspace if the request contains another project.
 * After a move, throws `unavailable` if the state service has not confirmed it; a repeat of the request completes the
 * move.
 */
export async function updateWorkspace(
  app: App,
  caller: Caller,
  { ref, validateOnly, ...input }: WorkspaceInput & { ref: WorkspaceRef },
): Promise<WorkspaceDocument> {
  const { workspace, view } = await app.transaction(
    async (tx) => {
      const workspace = await tx.workspaces.getForUpdate(ref);
      const destination = input.projectId === workspace.projectId ? undefined : input.projectId;
      authorizeUpdate(caller, workspace, {
        mayOnlyMove: input.projectId !== undefined && !changesSettings(input),
      });
      if (destination) await move(app, tx, caller, workspace, destination);
      const problems = new Problems();
      // An update does not change the source of the workspace, which is set on creation only.
      const { sourceName: _, sourceUrl: __, ...settings } = input.settings;
      const { name } = settings;
      const renamed = name !== undefined && name !== workspace.name;
      const { projectId, organizationId } = workspace;
      const poolKnown = await tx.agentPools.isKnown(settings.agentPoolId, organizationId);
      const { plan, nameTaken, ...inherited } = await tx.workspaces.settingsContext(
        projectId,
        renamed ? name : undefined,
      );
      const conditions = validationContext(app, { poolKnown, inherited, plan });
      applySettings(workspace, settings, { ...conditions, nameTaken, problems });
      const { tagBindings } = input;
      const current = tagBindings && (await tx.tagBindings.ofWorkspace(workspace.id));
      const tags = current && {
        current,
        ...checkedBindings(flatTagsOf(current), tagBindings, problems),
      };
      if (tags) await checkOverrides(tx, workspace, tags, problems);
      problems.throwIfAny();
      touch(workspace, app.now());
      if (tags) await replaceWorkspaceTags(app, tx, workspace, tags);
      await tx.record(workspaceUpdated(workspace));
      return { workspace, view: await tx.workspaces.commit(workspace) };
    },
    { validateOnly },
  );
  if (!validateOnly) await syncPendingPlacement(app, workspace);
  return workspaceDocument(app, caller, view);
}

/**
 * Moves workspaces to a project of their organization. If one of them cannot be moved, moves none and throws `notFound`
 * or `forbidden`. After the move, throws `unavailable` if the state service has not confirmed it; a repeat of the
 * request completes the move.
 */
export async function moveWorkspaces(
  app: App,
  caller: Caller,
  { projectId, workspaceIds }: { projectId: ProjectId; workspaceIds: readonly WorkspaceId[] },
): Promise<void> {
  const workspaces = await app.transaction(async (tx) => {
    const project = await tx.projects.getForShare(projectId);
    const { organizationId } = project;
    authorize(caller, "project:move-workspace", { organizationId, projectId }, "project");
    const found: Workspace[] = [];
    // All transactions lock workspaces in the same order, to prevent deadlocks.
    for (const id of [...new Set(workspaceIds)].toSorted()) {
      const workspace = await tx.workspaces.getForUpdate({ id });
      authorize(caller, "project:move-workspace", targetOf(workspace), "workspace");
      if (workspace.organizationId !== organizationId) throw workspaceNotFound();
      found.push(workspace);
      if (workspace.projectId === projectId) continue;
      moveWorkspace(workspace, project, app.now());
      touch(workspace, app.now());
      tx.workspaces.save(workspace);
      await tx.record(workspaceUpdated(workspace));
    }
    return found;
  });
  await forEachConcurrently(SYNCED_AT_ONCE, workspaces, (workspace) =>
    syncPendingPlacement(app, workspace),
  );
}

/**
 * Authorizes an update. A request that only moves the workspace, or repeats such a move, requires only the right to
 * move it.
 */
function authorizeUpdate(
  caller: Caller,
  workspace: Workspace,
  { mayOnlyMove }: { mayOnlyMove: boolean },
): void {
  const target = targetOf(workspace);
  if (mayOnlyMove && allowed(grantsOf(caller), "project:move-workspace", target)) return;
  authorize(caller, "workspace:update", target);
}

/** Moves the workspace. The caller must have the right to move workspaces in both the old and the new project. */
async function move(
  app: App,
  tx: Tx,
  caller: Caller,
  workspace: Workspace,
  projectId: ProjectId,
): Promise<void> {
  const { organizationId } = workspace;
  // Permission in the old project is checked first: a caller without the right to move the workspace must not learn
  // which projects exist.
  authorize(caller, "project:move-workspace", targetOf(workspace), "workspace");
  const project = await tx.projects.getForShare(projectId);
  if (project.organizationId !== organizationId) throw projectNotFound();
  authorize(caller, "project:move-workspace", { organizationId, projectId });
  moveWorkspace(workspace, project, app.now());
}

const changesSettings = ({
  tagBindings,
  settings,
}: Pick<WorkspaceInput, "tagBindings" | "settings">): boolean =>
  Object.values({ tagBindings, ...settings }).some((value) => value !== undefined);

/** Returns the values that the validation of settings needs in addition to the workspace and the request. */
function validationContext(
  app: App,
  { plan, ...known }: Pick<ValidationContext, "poolKnown" | "inherited"> & { plan: Plan },
): Omit<ValidationContext, "nameTaken" | "problems"> {
  const { assessments: offered, engineReleases } = app.settings;
  return { ...known, assessments: { offered, plan, engineReleases }, now: app.now() };
}

/**
 * Returns whether the caller is a run whose workspace is a remote state consumer of this workspace. Such a run finds
 * the workspace by name and must therefore be able to read it. Users, teams and organizations receive no access from a
 * workspace that is a consumer.
 */
export async function mayShowAsConsumer(
  app: App,
  caller: Caller,
  { id, organizationId }: Pick<Workspace, "id" | "organizationId">,
): Promise<boolean> {
  const { principal, organizations } = grantsOf(caller);
  if (principal.type !== "run") return false;
  // A run has grants on exactly one workspace: its own.
  const [own] = organizations.get(organizationId)?.workspaces.keys() ?? [];
  if (own === undefined || own === id) return false;
  const readable = await app.reads.remoteStateConsumers.readableAs({
    runId: principal.id,
    consumerId: own,
    workspaceIds: [id],
  });
  return readable.length > 0;
}
