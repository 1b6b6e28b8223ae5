import { nextVersion } from "@statehouse/events/version";
import {
  type Database,
  type EntityManager,
  loadRows,
  queryIn,
  recordsOf,
  selectWhere,
} from "@statehouse/postgres";
import { nameTaken } from "../errors-domain.ts";
import type { InheritedExecution } from "../execution/domain.ts";
import type { OrganizationId, ProjectId, WorkspaceId } from "../ids-domain.ts";
import { isOrganizationName, organizationNotFound } from "../organization/domain.ts";
import type { Plan } from "../organization/plan-domain.ts";
import { type Project, projectNotFound } from "../project/domain.ts";
import { inheritedMode, inheritedPool } from "../project/store.ts";
import { type WithNumericVersion, withVersion } from "../version-store.ts";
import type { WorkspaceLock } from "../workspace-lock/domain.ts";
import type { Placement } from "../workspace-placement/domain.ts";
import {
  type LockJson,
  selectChangedWorkspaces,
  selectWorkspaces,
  toLock,
  toWorkspaceView,
  type WorkspaceRow,
  workspaceEntities,
  workspaceLock,
  workspaceSchema,
} from "./columns-store.ts";
import {
  isWorkspaceName,
  type PublishedWorkspace,
  type Workspace,
  type WorkspaceNameRef,
  type WorkspaceRef,
  type WorkspaceView,
  workspaceNotFound,
} from "./domain.ts";
import { listedWorkspaceEvents } from "./events-store.ts";
import { createWorkspaceSearch } from "./list-store.ts";

type PublishedRow = Omit<PublishedWorkspace, "placementVersion" | "revision"> & {
  placementVersion: number;
  revision: number;
};

/** SQL conditions on workspace `w` and organization `o`, with their indexes. */
const byId = "w.id = $1"; // index: workspaces_pkey
const byName = "o.name = $1 and w.name = $2"; // index: organizations_name_key, workspaces_name_key
type Condition = typeof byId | typeof byName;

const shown = (condition: Condition) =>
  selectWorkspaces(`where ${condition} and o.status = 'active'`);
/** The statement that selects a workspace's document, composed once for each condition. */
const shownWorkspace = { [byId]: shown(byId), [byName]: shown(byName) };

/**
 * Returns the SQL condition that selects the requested workspace, with the values of its parameters. Returns undefined
 * if a name is invalid.
 */
function addressed(ref: WorkspaceRef): [Condition, string[]] | undefined {
  if ("id" in ref) return [byId, [ref.id]];
  const { organizationName, workspaceName } = ref;
  if (!isOrganizationName(organizationName) || !isWorkspaceName(workspaceName)) return undefined;
  return [byName, [organizationName, workspaceName]];
}

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

/** The values that a change of a workspace's settings uses. */
type SettingsContext = InheritedExecution & Pick<CreationContext, "plan" | "nameTaken">;

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

type WorkspaceIds = Pick<Workspace, "id" | "organizationId" | "projectId">;

// index: organizations_pkey
const selectIds = (condition: Condition) =>
  `select w.id, w.organization_id as "organizationId", w.project_id as "projectId"
   from workspaces w join organizations o on o.id = w.organization_id
   where ${condition} and o.status = 'active'`;

/** Reads of workspaces, outside any transaction. Each read but `search` is one statement. */
const reads = (database: Database) => ({
  search: createWorkspaceSearch(database),

  async find(ref: WorkspaceRef): Promise<WorkspaceView | undefined> {
    const address = addressed(ref);
    if (!address) return undefined;
    const [condition, values] = address;
    const [row] = await database.query<WorkspaceRow>(shownWorkspace[condition], values);
    return row && toWorkspaceView(row);
  },

  /** Returns the ids of a workspace, its organization and its project. */
  async findIds(ref: WorkspaceNameRef): Promise<WorkspaceIds | undefined> {
    const address = addressed(ref);
    if (!address) return undefined;
    const [condition, values] = address;
    const [row] = await database.query<WorkspaceIds>(selectIds(condition), values);
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

  /** Returns those of the given workspaces whose stored state summary has a lower revision than the given revision. */
  async listWithOlderState(
    summaries: readonly { id: WorkspaceId; revision: bigint }[],
  ): Promise<WorkspaceId[]> {
    const found = await database.query<{ id: WorkspaceId }>(
      // index: workspaces_pkey
      `select w.id from unnest($1::text[], $2::bigint[]) as given (id, revision)
       join workspaces w on w.id = given.id where w.state_revision < given.revision`,
      [summaries.map(({ id }) => id), summaries.map(({ revision }) => revision)],
    );
    return found.map(({ id }) => id);
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
    const [row] = await database.query<WithNumericVersion<Placement> & { lock: LockJson | null }>(
      // index: workspaces_pkey
      `select w.id as "workspaceId", w.organization_id as "organizationId",
         w.project_id as "projectId", w.placement_version as version, ${workspaceLock("w")} as lock
       from workspaces w where w.id = $1`,
      [id],
    );
    if (!row) return undefined;
    const { lock, ...placement } = row;
    return { lock: lock && toLock(lock), placement: withVersion(placement) };
  },
});

/** Reads and writes of workspaces inside a transaction. */
const rows = (em: EntityManager) => {
  const records = recordsOf(em, workspaceSchema, workspaceNotFound);

  return {
    ...records,

    async findForUpdate(ref: WorkspaceRef): Promise<Workspace | undefined> {
      const address = addressed(ref);
      if (!address) return undefined;
      const [condition, values] = address;
      const [found] =
        "id" in ref ? [ref] : await queryIn<WorkspaceIds>(em, selectIds(condition), values);
      if (!found) return undefined;
      // index: workspaces_pkey
      const workspace = await records.findForUpdate(found.id);
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
     * Returns the number of the organization's workspaces. Other transactions that call this function wait until this
     * transaction ends, so that they also count the workspaces that it creates.
     */
    async countForLimit(organizationId: OrganizationId): Promise<number> {
      await queryIn(em, "select pg_advisory_xact_lock(hashtextextended($1, 0))", [organizationId]);
      const [row] = await queryIn<{ count: number }>(
        em,
        // index: workspace_counts_pkey
        "select sum(count) as count from workspace_counts where organization_id = $1",
        [organizationId],
      );
      return row?.count ?? 0;
    },

    /**
     * Returns the workspaces whose destroy run is due, earliest first, and locks their rows. Rows that another replica
     * has locked are omitted.
     */
    dueForAutoDestroy: (now: Date, limit: number): Promise<Workspace[]> =>
      loadRows(
        em,
        // index: workspaces_auto_destroy
        selectWhere(em, workspaceSchema, "auto_destroy_at <= $1", [now], {
          lock: "update skip locked",
          order: ["autoDestroyAt"],
          limit,
        }),
      ),

    /** Locks and returns at most `limit` workspaces of the organization. */
    listForDeletion: (organizationId: OrganizationId, limit: number): Promise<Workspace[]> =>
      // index: workspaces_name_key. All replicas lock in the same order, to prevent deadlocks.
      records.list({ organizationId }, { lock: "update", order: ["name"], limit }),

    /**
     * Returns the values that a workspace inherits in this project, and whether a workspace of the organization has the
     * new name; undefined if the name does not change.
     */
    async settingsContext(
      projectId: ProjectId,
      newName: string | undefined,
    ): Promise<SettingsContext> {
      const [row] = await queryIn<SettingsContext>(
        em,
        // index: projects_pkey, organizations_pkey, workspaces_name_key
        `select ${inheritedMode} as mode, o.plan, ${inheritedPool} as "agentPoolId",
         exists (select from workspaces w where w.organization_id = o.id and w.name = $2) as "nameTaken"
       from projects p join organizations o on o.id = p.organization_id where p.id = $1`,
        [projectId, newName !== undefined && isWorkspaceName(newName) ? newName : null],
      );
      if (!row) throw projectNotFound();
      return row;
    },

    /**
     * Copies a project's auto-destroy duration to its workspaces, and returns those that inherit it. The destroy runs of
     * the returned workspaces are scheduled for `dueAt`; if `dueAt` is null, they are canceled.
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

    /** Writes the workspace and commits. Returns the values of its document. */
    async commit(workspace: Workspace): Promise<WorkspaceView> {
      // index: workspaces_pkey
      return toWorkspaceView(
        await records.commit<WorkspaceRow>(workspace, selectChangedWorkspaces),
      );
    },
  };
};

/** Single statements outside any transaction that change rows without loading them. */
const leases = (database: Database) => ({
  /**
   * Clears the deletion locks whose lease has ended. Any replica may do so: the deletions that took these locks were
   * interrupted, or fail because they have lost their lock.
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

export const workspaces = {
  entities: workspaceEntities,
  reads,
  rows,
  leases,
  uniqueErrors: { workspaces_name_key: nameTaken },
  listed: listedWorkspaceEvents,
};
