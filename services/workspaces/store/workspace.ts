import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { LockMode } from "@mikro-orm/core";
import { type AttributeNames, listed, type PublishedEvents, published } from "@statehouse/events";
import { nextVersion } from "@statehouse/events/version";
import {
  commitWith,
  type Database,
  type EntityManager,
  existsIn,
  queryIn,
  saveRow,
  withTaken,
} from "@statehouse/postgres";
import { insertRow, rowJson } from "@statehouse/postgres/columns";
import {
  WorkspaceAutoDestroyDueSchema,
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { nameTaken } from "../domain/errors.ts";
import type { InheritedExecution } from "../domain/execution.ts";
import type { OrganizationId, ProjectId, WorkspaceId } from "../domain/ids.ts";
import { isOrganizationName, organizationNotFound } from "../domain/organization.ts";
import type { Plan } from "../domain/plan.ts";
import { type Project, projectNotFound } from "../domain/project.ts";
import {
  isWorkspaceName,
  type PublishedWorkspace,
  type Workspace,
  type WorkspaceEvent,
  type WorkspaceRef,
  type WorkspaceView,
  workspaceNotFound,
} from "../domain/workspace.ts";
import type { WorkspaceLock } from "../domain/workspace-lock.ts";
import type { Placement } from "../domain/workspace-placement.ts";
import { organizationIsActive } from "./active-organization.ts";
import { inheritedMode, inheritedPool } from "./project.ts";
import {
  insertedColumns,
  type LockJson,
  selectChangedWorkspaces,
  selectWorkspaces,
  toLock,
  toWorkspaceView,
  type WorkspaceRow,
  workspaceEntities,
  workspaceLock,
  workspaceSchema,
} from "./workspace-columns.ts";

type PublishedRow = Omit<PublishedWorkspace, "placementVersion" | "revision"> & {
  placementVersion: number;
  revision: number;
};

interface PlacementColumns {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  projectId: Placement["projectId"];
  version: number;
}

/**
 * Returns an SQL condition on workspace `w` and organization `o` that selects the requested workspace, with the values
 * of its parameters. Returns undefined if a name is invalid.
 */
function addressed(ref: WorkspaceRef): [string, string[]] | undefined {
  // index: workspaces_pkey
  if ("id" in ref) return ["w.id = $1", [ref.id]];
  const { organizationName, workspaceName } = ref;
  if (!isOrganizationName(organizationName) || !isWorkspaceName(workspaceName)) return undefined;
  // index: organizations_name_key, workspaces_name_key
  return ["o.name = $1 and w.name = $2", [organizationName, workspaceName]];
}

type WorkspaceIds = Pick<Workspace, "id" | "organizationId" | "projectId">;

/** Reads of workspaces, outside any transaction. Each read is one statement. */
const reads = (database: Database) => ({
  async find(ref: WorkspaceRef): Promise<WorkspaceView | undefined> {
    const address = addressed(ref);
    if (!address) return undefined;
    const [condition, values] = address;
    const sql = selectWorkspaces(`where ${condition} and o.status = 'active'`);
    const [row] = await database.query<WorkspaceRow>(sql, values);
    return row && toWorkspaceView(row);
  },

  /** Returns the ids of a workspace, its organization and its project. */
  async findIds(ref: WorkspaceRef): Promise<WorkspaceIds | undefined> {
    const address = addressed(ref);
    if (!address) return undefined;
    const [condition, values] = address;
    const [row] = await database.query<WorkspaceIds>(
      // index: organizations_pkey
      `select w.id, w.organization_id as "organizationId", w.project_id as "projectId"
       from workspaces w join organizations o on o.id = w.organization_id
       where ${condition} and o.status = 'active'`,
      values,
    );
    return row;
  },

  async batch(ids: readonly string[]): Promise<WorkspaceView[]> {
    const rows = await database.query<WorkspaceRow>(
      // index: workspaces_pkey
      selectWorkspaces("where w.id = any($1)"),
      [ids],
    );
    return rows.map(toWorkspaceView);
  },

  /**
   * Returns the time at which the oldest lock was taken; undefined if no workspace is locked. Reads all rows, because
   * an index would have to be updated for every lock and unlock.
   */
  async oldestLock(): Promise<Date | undefined> {
    const [row] = await database.query<{ since: Date | null }>(
      "select min(lock_since) as since from workspaces",
    );
    return row?.since ?? undefined;
  },

  /** Returns the workspace's placement, and its lock if it is locked. */
  async lockAndPlacement(
    id: WorkspaceId,
  ): Promise<{ lock: WorkspaceLock | null; placement: Placement } | undefined> {
    const [row] = await database.query<PlacementColumns & { lock: LockJson | null }>(
      // index: workspaces_pkey
      `select w.id as "workspaceId", w.organization_id as "organizationId",
         w.project_id as "projectId", w.placement_version as version, ${workspaceLock("w")} as lock
       from workspaces w where w.id = $1`,
      [id],
    );
    if (!row) return undefined;
    const { workspaceId, organizationId, projectId, version, lock } = row;
    return {
      lock: lock && toLock(lock),
      placement: { workspaceId, organizationId, projectId, version: BigInt(version) },
    };
  },
});

/** The values of the organization, the project and the installation that the creation of a workspace uses. */
export interface CreationContext {
  organizationId: OrganizationId;
  workspaceLimit: number | null;
  plan: Plan;
  projectId: ProjectId;
  /** Whether the project belongs to the organization. */
  projectExists: boolean;
  autoDestroyActivityDuration: string | null;
  inherited: InheritedExecution;
  defaultRemoteStateAccess: boolean;
  nameTaken: boolean;
}

// One statement instead of six, each of which was a round trip (section (f) of the bench counts round trips).
const creationContext = `-- index: organizations_name_key, projects_pkey, workspaces_name_key
  select o.id as "organizationId", o.workspace_limit as "workspaceLimit", o.plan,
    coalesce($2, o.default_project_id) as "projectId", p.id is not null as "projectExists",
    p.auto_destroy_activity_duration as "autoDestroyActivityDuration",
    json_build_object('mode', ${inheritedMode}, 'agentPoolId', ${inheritedPool}) as inherited,
    (select default_remote_state_access from general_settings) as "defaultRemoteStateAccess",
    exists (select from workspaces w where w.organization_id = o.id and w.name = $3) as "nameTaken"
  from organizations o
  left join lateral (
    select * from projects where id = coalesce($2, o.default_project_id)
      and organization_id = o.id for share) p on true
  where o.name = $1 and o.status = 'active'
  for share of o`;

const insertedWorkspace = insertRow("workspaces", insertedColumns);

const workspaceTaken = { workspaces_name_key: nameTaken };

/** Reads and writes of workspaces inside a transaction. */
const rows = (em: EntityManager) => ({
  async findForUpdate(ref: WorkspaceRef): Promise<Workspace | undefined> {
    const address = addressed(ref);
    if (!address) return undefined;
    const [condition, values] = address;
    const id = "id" in ref ? ref.id : await idOf(em, condition, values);
    if (!id) return undefined;
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const workspace = await em.findOne(workspaceSchema, { id }, { lockMode });
    // If the workspace was renamed while this transaction waited for its row, no workspace has the requested name any
    // longer.
    if (!workspace || ("workspaceName" in ref && workspace.name !== ref.workspaceName)) {
      return undefined;
    }
    return workspace;
  },

  async getForUpdate(ref: WorkspaceRef): Promise<Workspace> {
    const workspace = await this.findForUpdate(ref);
    if (!workspace) throw workspaceNotFound();
    return workspace;
  },

  /**
   * Returns the values that the creation of a workspace uses. Prevents the deletion of the organization and of the
   * project until the transaction ends, so that a later deletion includes the workspace.
   */
  async creationContext({
    organizationName,
    projectId,
    name,
  }: {
    organizationName: string;
    /** Undefined for the default project. */
    projectId: ProjectId | undefined;
    name: string;
  }): Promise<CreationContext> {
    if (!isOrganizationName(organizationName)) throw organizationNotFound();
    const [row] = await queryIn<CreationContext>(em, creationContext, [
      organizationName,
      projectId,
      isWorkspaceName(name) ? name : "",
    ]);
    if (!row) throw organizationNotFound();
    return row;
  },

  /**
   * Returns the ids of workspaces whose destroy run is due, earliest first, and locks their rows. Rows that another
   * replica has locked are omitted.
   */
  async dueForAutoDestroy(now: Date, limit: number): Promise<WorkspaceId[]> {
    const found = await queryIn<{ id: WorkspaceId }>(
      em,
      // index: workspaces_auto_destroy
      `select id from workspaces where auto_destroy_at <= $1
       order by auto_destroy_at limit $2 for update skip locked`,
      [now, limit],
    );
    return found.map(({ id }) => id);
  },

  /**
   * Returns the number of the organization's workspaces. Other transactions that call this function wait until this
   * transaction ends, so that they also count the workspaces that it creates.
   */
  async countForLimit(organizationId: OrganizationId): Promise<number> {
    await queryIn(em, "select pg_advisory_xact_lock(hashtextextended($1, 0))", [organizationId]);
    const [row] = await queryIn<{ count: number }>(
      em,
      // index: workspace_counts_pkey
      "select sum(count)::int as count from workspace_counts where organization_id = $1",
      [organizationId],
    );
    return row?.count ?? 0;
  },

  async nameTaken(organizationId: OrganizationId, name: string): Promise<boolean> {
    if (!isWorkspaceName(name)) return false;
    return existsIn(
      em,
      // index: workspaces_name_key
      "select from workspaces where organization_id = $1 and name = $2",
      [organizationId, name],
    );
  },

  /** Returns the values that a workspace inherits in this project. */
  async inherited(projectId: ProjectId): Promise<InheritedExecution & { plan: Plan }> {
    const [row] = await queryIn<InheritedExecution & { plan: Plan }>(
      em,
      // index: projects_pkey, organizations_pkey
      `select ${inheritedMode} as mode, o.plan, ${inheritedPool} as "agentPoolId"
       from projects p join organizations o on o.id = p.organization_id where p.id = $1`,
      [projectId],
    );
    if (!row) throw projectNotFound();
    return row;
  },

  /**
   * Copies a project's auto-destroy duration to its workspaces, and returns those that inherit it. Their destroy runs
   * become due at `dueAt`.
   */
  async passOnActivityDuration(
    { id, autoDestroyActivityDuration }: Project,
    { dueAt, at }: { dueAt: Date | null; at: Date },
  ): Promise<PublishedWorkspace[]> {
    // All transactions lock workspaces in the same order, to prevent deadlocks.
    const changed = await queryIn<PublishedRow & { inherits: boolean }>(
      em,
      // index: workspaces_project_name, workspaces_pkey
      `update workspaces w set inherited_activity_duration = $2,
         auto_destroy_at = case when inherits_project_auto_destroy then $3 else auto_destroy_at end,
         revision = case when inherits_project_auto_destroy
           then greatest(revision + 1, $4) else revision end,
         updated_at = case when inherits_project_auto_destroy then $5 else updated_at end
       where id in (
         select id from workspaces where project_id = $1 order by id collate "C" for update)
       returning id, organization_id as "organizationId", project_id as "projectId", name,
         placement_version as "placementVersion", revision,
         inherits_project_auto_destroy as inherits`,
      [id, autoDestroyActivityDuration, dueAt, nextVersion(0n, at), at],
    );
    return changed
      .filter(({ inherits }) => inherits)
      .map(({ inherits: _, placementVersion, revision, ...workspace }) => ({
        ...workspace,
        placementVersion: BigInt(placementVersion),
        revision: BigInt(revision),
      }));
  },

  /**
   * Inserts the workspace and commits. Returns the values of its document. Throws `invalid` if another transaction has
   * taken its name.
   */
  async commit(workspace: Workspace): Promise<WorkspaceView> {
    const [row] = await withTaken(workspaceTaken, () =>
      // index: workspaces_pkey
      commitWith<WorkspaceRow>(em, { change: insertedWorkspace, select: selectChangedWorkspaces }, [
        rowJson(workspace, insertedColumns),
      ]),
    );
    if (!row) throw workspaceNotFound();
    return toWorkspaceView(row);
  },

  /** Inserts the workspace or writes its changes. Throws `invalid` if another transaction has taken its name. */
  async save(workspace: Workspace): Promise<void> {
    await saveRow(em, workspace, workspaceTaken);
  },

  async remove(workspace: Workspace): Promise<void> {
    em.remove(workspace);
    await em.flush();
  },

  /** Returns the values of the workspace's document, including the changes of this transaction. */
  async view(id: WorkspaceId): Promise<WorkspaceView> {
    await em.flush();
    const [row] = await queryIn<WorkspaceRow>(em, selectWorkspaces("where w.id = $1"), [id]);
    if (!row) throw workspaceNotFound();
    return toWorkspaceView(row);
  },
});

async function idOf(
  em: EntityManager,
  condition: string,
  values: string[],
): Promise<WorkspaceId | undefined> {
  const [row] = await queryIn<{ id: WorkspaceId }>(
    em,
    `select w.id from workspaces w join organizations o on o.id = w.organization_id
     where ${condition} and o.status = 'active'`,
    values,
  );
  return row?.id;
}

/** Single statements outside any transaction that change rows without loading them. */
const leases = (database: Database) => ({
  /**
   * Clears the deletion locks whose lease has ended. Any replica may do so, because the deletions that took these locks
   * have failed.
   */
  async endExpiredDeletionLocks(now: Date): Promise<void> {
    await database.query(
      // index: workspaces_deletion_lock
      `update workspaces set deletion_lock_epoch = null, deletion_lock_until = null
       where id in (
         select id from workspaces
         where deletion_lock_epoch is not null and deletion_lock_until <= $1
         for update skip locked)`,
      [now],
    );
  },
});

type Named = Pick<Workspace, "id" | "organizationId" | "projectId" | "name">;
type ListedWorkspace = Named & {
  key: string;
  revision: number;
  holderType: WorkspaceLock["holder"]["type"] | null;
  holderId: string | null;
  reason: string | null;
  epoch: number | null;
};

/**
 * Selects at most $3 workspaces after $1 for the listing: those of organization $2, or of all organizations if $2 is
 * null.
 */
const listedWorkspaces = `-- index: workspaces_pkey, organizations_pkey
  select w.id as key, w.id, w.organization_id as "organizationId", w.project_id as "projectId",
    w.name, w.lock_holder_type as "holderType", w.lock_holder_id as "holderId",
    w.lock_reason as reason, w.lock_epoch as epoch, w.revision,
    ${organizationIsActive("w.organization_id")} as "isListed"
  from workspaces w
  where w.id > $1 and ($2::text is null or w.organization_id = $2)
  order by w.id limit $3`;

const createdEvent = ({ id, organizationId, projectId, name }: Named) =>
  published(WorkspaceCreatedSchema, id, { workspaceId: id, organizationId, projectId, name });

const lockedEvent = (
  { id, organizationId }: Pick<Workspace, "id" | "organizationId">,
  { holder, reason, epoch }: Pick<WorkspaceLock, "holder" | "reason" | "epoch">,
) =>
  published(WorkspaceLockedSchema, id, {
    workspaceId: id,
    organizationId,
    holderType: holder.type,
    holderId: holder.id,
    reason,
    epoch,
  });

const listedEvents = (row: ListedWorkspace) => {
  const { holderType, holderId, reason, epoch } = row;
  if (holderType === null) return [createdEvent(row)];
  const lock = {
    holder: { type: holderType, id: holderId ?? "" },
    reason: reason ?? "",
    epoch: BigInt(epoch ?? 0),
  };
  return [createdEvent(row), lockedEvent(row, lock)];
};

export const workspaces = {
  entities: workspaceEntities,
  reads,
  rows,
  leases,
  attributeNames: {
    projectId: "project",
    sshKeyId: "ssh-key",
    inheritedActivityDuration: "auto-destroy-activity-duration",
    overwritesAgentPool: "setting-overwrites",
    ...{ placementVersion: null, placementAcknowledged: null, lastLockEpoch: null },
    ...{ stateRevision: null },
  } satisfies AttributeNames,
  listed: listed({
    schemas: [WorkspaceCreatedSchema, WorkspaceLockedSchema],
    select: listedWorkspaces,
    events: listedEvents,
  }),
  published: {
    workspaceCreated: ({ workspace }) => createdEvent(workspace),
    workspaceUpdated: ({ workspace }) => {
      const { id, organizationId, projectId, name, placementVersion } = workspace;
      const fields = { workspaceId: id, organizationId, projectId, name, placementVersion };
      return published(WorkspaceUpdatedSchema, id, fields);
    },
    workspaceLocked: ({ workspace, lock }) => lockedEvent(workspace, lock),
    workspaceUnlocked: ({ workspace: { id, organizationId }, epoch, forced }) =>
      published(WorkspaceUnlockedSchema, id, { workspaceId: id, organizationId, epoch, forced }),
    workspaceDeleted: ({ workspace: { id, organizationId } }) =>
      published(WorkspaceDeletedSchema, id, { workspaceId: id, organizationId }),
    workspaceAutoDestroyDue: ({ workspace: { id, organizationId, projectId }, dueAt }) =>
      published(WorkspaceAutoDestroyDueSchema, id, {
        workspaceId: id,
        organizationId,
        projectId,
        dueAt: timestampFromDate(dueAt),
      }),
  } satisfies PublishedEvents<WorkspaceEvent>,
};
