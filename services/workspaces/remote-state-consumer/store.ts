import {
  type Database,
  type EntityManager,
  type Page,
  type PageInput,
  queryIn,
  withTotal,
} from "@statehouse/postgres";
import type { OrganizationId, WorkspaceId } from "../ids-domain.ts";
import { Parameters } from "../parameters-store.ts";
import { type ReadScope, readableWorkspaces } from "../read-scope-store.ts";
import {
  selectWorkspaces,
  toWorkspaceView,
  type WorkspaceRow,
} from "../workspace/columns-store.ts";
import type { Workspace, WorkspaceView } from "../workspace/domain.ts";

/**
 * The workspace whose state is read. With global remote state, every workspace of the organization may read the state.
 * With project remote state, only the workspaces of its project may read it. Otherwise, only the approved consumers may
 * read it.
 */
export type Producer = Pick<
  WorkspaceView,
  "id" | "organizationId" | "projectId" | "globalRemoteState" | "projectRemoteState"
>;

/** Asks for the workspaces among `workspaceIds` whose state the run `runId` of the workspace `consumerId` may read. */
export interface ConsumerQuestion {
  runId: string;
  consumerId: string;
  workspaceIds: readonly string[];
}

/** Returns the SQL condition on workspaces `w`: they are consumers of `producer`, and the caller may read them. */
function conditions(producer: Producer, readable: ReadScope, parameters: Parameters): string {
  const readableOnes = readableWorkspaces(readable, parameters);
  const id = parameters.bind(producer.id);
  if (producer.globalRemoteState) {
    // index: workspaces_name_key
    const organization = `w.organization_id = ${parameters.bind(producer.organizationId)}`;
    return `${organization} and w.id <> ${id} and ${readableOnes}`;
  }
  if (producer.projectRemoteState) {
    // index: workspaces_project_name
    const project = `w.project_id = ${parameters.bind(producer.projectId)}`;
    return `${project} and w.id <> ${id} and ${readableOnes}`;
  }
  // index: remote_state_consumers_pkey, workspaces_pkey. With an array, PostgreSQL looks up each consumer, however many
  // there are.
  return `w.id = any(array(
      select consumer_id from remote_state_consumers where workspace_id = ${id}
    )) and ${readableOnes}`;
}

/** Reads of consumers, outside any transaction. */
const reads = (database: Database) => ({
  /** Returns a page of consumers, ordered by name. */
  async list(
    producer: Producer,
    readable: ReadScope,
    page: PageInput,
  ): Promise<Page<WorkspaceView>> {
    const parameters = new Parameters();
    const matches = conditions(producer, readable, parameters);
    const { globalRemoteState, organizationId } = producer;
    // With global remote state, all workspaces of the organization except the producer are consumers. If the caller may
    // read all of them, the stored counts give the total.
    const all = globalRemoteState && readable.organizationIds.includes(organizationId);
    const { rows, total } = await database.page<WorkspaceRow & { id: WorkspaceId }>(
      withTotal({
        count: all
          ? // index: workspace_counts_pkey
            `select coalesce(sum(count) - 1, 0) as total from workspace_counts
               where organization_id = ${parameters.bind(organizationId)}`
          : `select count(*) as total from workspaces w where ${matches}`,
        // Names are unique in an organization, so the order is stable. The columns of the document are read only for
        // the rows of the page, not for skipped rows.
        select: selectWorkspaces(
          `join (
               select w.id from workspaces w where ${matches} order by w.name
               ${parameters.limits(page)}
             ) page on page.id = w.id`,
          "shown.id, shown.name,",
        ),
        order: "listed.name",
      }),
      parameters.values,
    );
    return { rows: rows.map(toWorkspaceView), total };
  },

  /** Returns the workspaces among `workspaceIds` whose state the run may read. */
  async readableAs({ runId, consumerId, workspaceIds }: ConsumerQuestion): Promise<WorkspaceId[]> {
    const rows = await database.query<{ id: WorkspaceId }>(
      // index: workspaces_pkey, runs_pkey, remote_state_consumers_pkey
      `select w.id from workspaces w
       join workspaces c on c.id = $2 and c.organization_id = w.organization_id
       where w.id = any($3)
         and not exists (select from runs r where r.id = $1 and (r.ended or r.workspace_id <> c.id))
         and (w.id = c.id or w.global_remote_state
           or (w.project_remote_state and w.project_id = c.project_id)
           or (not w.project_remote_state and exists (select from remote_state_consumers a
                where a.workspace_id = w.id and a.consumer_id = c.id)))`,
      [runId, consumerId, workspaceIds],
    );
    return rows.map(({ id }) => id);
  },
});

const addConsumers = `insert into remote_state_consumers (workspace_id, consumer_id)
  select $1, w.id from workspaces w where w.id = any($2) order by w.id for key share
  on conflict do nothing`;

/** Reads and writes of a workspace's consumers, inside a transaction that holds the lock on the workspace's row. */
const rows = (em: EntityManager) => ({
  async of(workspaceId: WorkspaceId): Promise<Set<WorkspaceId>> {
    const rows = await queryIn<{ id: WorkspaceId }>(
      em,
      // index: remote_state_consumers_pkey
      "select consumer_id as id from remote_state_consumers where workspace_id = $1",
      [workspaceId],
    );
    return new Set(rows.map(({ id }) => id));
  },

  /** Returns the placements of the workspaces among `ids` that belong to the organization. */
  async candidates(
    organizationId: OrganizationId,
    ids: readonly WorkspaceId[],
  ): Promise<Pick<Workspace, "id" | "organizationId" | "projectId">[]> {
    return queryIn(
      em,
      // index: workspaces_pkey
      `select id, organization_id as "organizationId", project_id as "projectId"
       from workspaces where id = any($2) and organization_id = $1`,
      [organizationId, ids],
    );
  },

  /**
   * Adds consumers, and prevents their deletion until the transaction ends. Omits workspaces that were deleted
   * concurrently.
   */
  async add(workspaceId: WorkspaceId, ids: readonly WorkspaceId[]): Promise<void> {
    if (ids.length === 0) return;
    await queryIn(
      em,
      // index: workspaces_pkey
      addConsumers,
      [workspaceId, ids],
    );
  },

  /** Removes all consumers except `ids`, and adds those of `ids` that are missing, like `add`. */
  async replace(workspaceId: WorkspaceId, ids: readonly WorkspaceId[]): Promise<void> {
    await queryIn(
      em,
      // index: remote_state_consumers_pkey, workspaces_pkey
      `with removed as (
         delete from remote_state_consumers where workspace_id = $1 and consumer_id <> all($2))
       ${addConsumers}`,
      [workspaceId, ids],
    );
  },

  async remove(workspaceId: WorkspaceId, ids: readonly WorkspaceId[]): Promise<void> {
    if (ids.length === 0) return;
    await queryIn(
      em,
      // index: remote_state_consumers_pkey
      "delete from remote_state_consumers where workspace_id = $1 and consumer_id = any($2)",
      [workspaceId, ids],
    );
  },
});

export const remoteStateConsumers = { reads, rows };
