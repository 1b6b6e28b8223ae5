import {
  commitWith,
  type EntityManager,
  type LastStatement,
  queryBothIn,
  queryIn,
} from "@statehouse/postgres";
import {
  fieldsReader,
  insertRow,
  rowJson,
  selectList,
  updateRow,
  updateRows,
} from "@statehouse/postgres/columns";
import { stateVersionNotFound } from "../domain/errors.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import { StateVersion, type StateVersionView } from "../domain/state-version.ts";
import { WorkspaceState } from "../domain/workspace-state.ts";
import { latestVersions, versionColumns } from "./state-version-table.ts";
import { type StateVersionRow, stateVersionColumns, viewOf } from "./state-version-view.ts";
import { stateColumns, workspaceStateColumns } from "./workspace-state.ts";

type Fields<Entity> = { [Name in keyof Entity]: Entity[Name] };

const stateFields = fieldsReader<Fields<WorkspaceState>>(stateColumns);
const versionFields = fieldsReader<Fields<StateVersion>>(versionColumns);

const lockedState = `-- index: workspace_states_pkey
  select ${selectList("w", stateColumns)} from workspace_states w
  where w.workspace_id = $1 for update`;

const lockedVersion = `-- index: state_versions_pkey
  select ${selectList("v", versionColumns)} from state_versions v where v.id = $1 for update`;

const versionsBeforeCreation = `-- index: state_versions_creation, state_versions_pkey
  select ${selectList("v", versionColumns)} from state_versions v
  where v.id = any(array(
    select id from state_versions where workspace_id = $1 and lock_epoch = $2 and serial = $3
    union ${latestVersions}))
  order by v.id for update`;

const insertState = `
  insert into workspace_states (workspace_id, placement_version, sealed_epoch, current_position,
    resource_count, revision)
  values ($1, 0, 0, 0, 0, 0) on conflict do nothing`;

const changedState = updateRow("workspace_states", stateColumns, "$2");
const supersededVersions = updateRows("state_versions", versionColumns, "$3");
const changedVersion = updateRow("state_versions", versionColumns, "$1");

/**
 * SQL: the document of the version. The state of the workspace is read from $2, because the statement changes the
 * stored row.
 */
const view = `select ${stateVersionColumns}, ${workspaceStateColumns} from changed version
  join jsonb_populate_record(null::workspace_states, $2::jsonb) workspace using (workspace_id)`;

const statements = {
  creation: {
    change: insertRow("state_versions", versionColumns),
    furtherChanges: [changedState],
    select: view,
  },
  succession: {
    change: insertRow("state_versions", versionColumns),
    furtherChanges: [changedState, supersededVersions],
    select: view,
  },
  repeat: { change: changedVersion, furtherChanges: [changedState], select: view },
  change: {
    change: changedVersion,
    furtherChanges: [changedState],
    select: "select id from changed",
  },
} as const satisfies Record<string, LastStatement>;

/**
 * Reads and writes of a workspace's state and its versions by create requests, uploads and extractions. They are SQL
 * statements instead of entities of the ORM, so that a creation and an upload take two round trips each instead of six
 * or more (section `requests` of the bench; ADR 76). Rows that these functions return are not managed by the ORM.
 */
const rows = (em: EntityManager) => ({
  /**
   * Locks and returns the state of the workspace, which is inserted without a placement if it is missing, and the
   * versions on which a creation depends: the newest version, the newest version that is not discarded, all pending
   * versions, and the versions with this epoch and serial.
   */
  async getForCreation(
    workspaceId: WorkspaceId,
    { epoch, serial }: { epoch: bigint; serial: bigint },
  ): Promise<{ workspaceState: WorkspaceState; known: StateVersion[] }> {
    const [[state], versions] = await queryBothIn<object, object>(
      em,
      { sql: lockedState, params: [workspaceId] },
      { sql: versionsBeforeCreation, params: [workspaceId, epoch, serial] },
    );
    if (!state) {
      await queryIn(em, insertState, [workspaceId]);
      return this.getForCreation(workspaceId, { epoch, serial });
    }
    return {
      workspaceState: new WorkspaceState(stateFields(state)),
      known: versions.map((row) => new StateVersion(versionFields(row))),
    };
  },

  /** Locks and returns the state of the workspace and the version; each is undefined if it does not exist. */
  async findForUpdate(
    workspaceId: WorkspaceId,
    id: StateVersionId,
  ): Promise<{
    workspaceState: WorkspaceState | undefined;
    version: StateVersion | undefined;
  }> {
    const [[state], [version]] = await queryBothIn<object, object>(
      em,
      { sql: lockedState, params: [workspaceId] },
      { sql: lockedVersion, params: [id] },
    );
    return {
      workspaceState: state && new WorkspaceState(stateFields(state)),
      version: version && new StateVersion(versionFields(version)),
    };
  },

  /**
   * Inserts the version, writes the changes of the workspace's state and of the superseded versions, and commits.
   * Returns the values of the new version's document.
   */
  commitCreation(
    workspaceState: WorkspaceState,
    version: StateVersion,
    superseded: readonly StateVersion[],
  ): Promise<StateVersionView> {
    return superseded.length === 0
      ? commitVersion(em, statements.creation, [workspaceState, version])
      : commitVersion(em, statements.succession, [workspaceState, version], superseded);
  },

  /**
   * Like `commitCreation`, for a repeated request: writes the changes of the version that an earlier request created.
   */
  commitRepeat: (
    workspaceState: WorkspaceState,
    version: StateVersion,
  ): Promise<StateVersionView> => commitVersion(em, statements.repeat, [workspaceState, version]),

  /** Writes the changes of both rows, and commits. */
  async commit(workspaceState: WorkspaceState, version: StateVersion): Promise<void> {
    await commitWith(em, statements.change, jsonOf(workspaceState, version));
  },
});

async function commitVersion(
  em: EntityManager,
  statement: LastStatement,
  [workspaceState, version]: [WorkspaceState, StateVersion],
  superseded: readonly StateVersion[] = [],
): Promise<StateVersionView> {
  const others = superseded.map((other) => rowJson(other, versionColumns));
  const params = jsonOf(workspaceState, version);
  if (others.length > 0) params.push(`[${others.join(",")}]`);
  const [row] = await commitWith<StateVersionRow>(em, statement, params);
  if (!row) throw stateVersionNotFound();
  return viewOf(row);
}

const jsonOf = (workspaceState: WorkspaceState, version: StateVersion): string[] => [
  rowJson(version, versionColumns),
  rowJson(workspaceState, stateColumns),
];

export const stateWrites = { rows };
