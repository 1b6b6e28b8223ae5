import {
  type ColumnCipher,
  type Database,
  type EntityManager,
  type InsertAtCommit,
  insertAtCommit,
  offsetOf,
  type Page,
  type PageInput,
  queryIn,
  type SealedColumn,
  withTotal,
} from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import { outputNotFound } from "../errors-domain.ts";
import type { ExtractedOutput } from "../extraction/domain.ts";
import type { StateVersionId, StateVersionOutputId, WorkspaceId } from "../ids-domain.ts";
import type { StoredVersion } from "../state-version/domain.ts";
import {
  type StoredVersionJson,
  storedVersion,
  storedVersionOf,
} from "../state-version-document/store.ts";
import type { WorkspaceStateView } from "../workspace-state/domain.ts";
import { isVisible, workspaceStateColumns } from "../workspace-state/store.ts";
import type { StateVersionOutput } from "./domain.ts";

/**
 * The associated data with which an output's value is encrypted. It contains the original name of the table, which has
 * been renamed since: with the new name, stored values could not be decrypted.
 */
const outputLocation = (rowId: string) => ({
  table: "state_version_output",
  column: "sealed_value",
  rowId,
});

/** The column of sensitive values, which `rotate-keys` re-encrypts. */
export const sealedOutputs: SealedColumn = {
  table: "state_version_outputs",
  column: "sealed_value",
  locationOf: outputLocation,
};

type OutputRow = StateVersionOutput & { sealedValue: string | null };

/** Returns the output with its value, even if it is sensitive. */
const decrypted = <Row extends Pick<OutputRow, "id" | "valueJson" | "sealedValue">>(
  { sealedValue, ...output }: Row,
  cipher: ColumnCipher,
) => ({
  ...output,
  valueJson:
    sealedValue === null
      ? output.valueJson
      : cipher.decryptColumn(sealedValue, outputLocation(output.id)),
});

const insertRows: InsertAtCommit = (rows) => `
  insert into state_version_outputs (id, state_version_id, position, name, sensitive, type,
    detailed_type, value, sealed_value)
  select * from json_to_recordset(${rows}) as given (id text, state_version_id text,
    position integer, name text, sensitive boolean, type text, detailed_type text, value text,
    sealed_value text)`;

/** Inserts a version's outputs when the transaction commits; sensitive values are encrypted. */
function insertOutputs(
  em: EntityManager,
  cipher: ColumnCipher,
  versionId: StateVersionId,
  outputs: readonly ExtractedOutput[],
): void {
  for (const [position, output] of outputs.entries()) {
    const id = newId("wsout");
    const { name, sensitive, type, detailedTypeJson, valueJson } = output;
    insertAtCommit(em, insertRows, {
      ...{ id, state_version_id: versionId, position, name, sensitive, type },
      detailed_type: detailedTypeJson,
      value: sensitive ? null : valueJson,
      sealed_value: sensitive ? cipher.encryptColumn(valueJson, outputLocation(id)) : null,
    });
  }
}

/** Copies the outputs of one version to another. */
export async function copyOutputs(
  em: EntityManager,
  cipher: ColumnCipher,
  from: StateVersionId,
  to: StateVersionId,
): Promise<void> {
  const rows = await queryIn<Omit<OutputRow, "stateVersionId" | "workspaceId">>(
    em,
    // index: state_version_outputs_position
    `select id, name, sensitive, type, detailed_type as "detailedTypeJson", value as "valueJson",
       sealed_value as "sealedValue"
     from state_version_outputs where state_version_id = $1 order by position`,
    [from],
  );
  // Each copy is encrypted again, because the row id is part of the associated data.
  const outputs = rows
    .map((row) => decrypted(row, cipher))
    .map((output) => ({ ...output, valueJson: output.valueJson ?? "null" }));
  insertOutputs(em, cipher, to, outputs);
}

/** Deletes the outputs of versions that the transaction has locked. */
export async function deleteOutputs(
  em: EntityManager,
  versionIds: readonly StateVersionId[],
): Promise<void> {
  // index: state_version_outputs_position
  await queryIn(em, "delete from state_version_outputs where state_version_id = any($1)", [
    versionIds,
  ]);
}

/** Largest number of outputs that the document of a single object includes. */
const MAX_INCLUDED_OUTPUTS = 1000;
/** Largest number of outputs that the document of a list includes for each object. */
const MAX_LISTED_OUTPUTS = 100;

const includedOutputs = ({ length }: readonly string[]): number =>
  length === 1 ? MAX_INCLUDED_OUTPUTS : MAX_LISTED_OUTPUTS;

const rows = (em: EntityManager, cipher: ColumnCipher) => ({
  /** Inserts the outputs when the transaction commits. */
  saveAll: (versionId: StateVersionId, outputs: readonly ExtractedOutput[]): void =>
    insertOutputs(em, cipher, versionId, outputs),

  /** Deletes the outputs of versions whose rows the transaction has locked. */
  removeOf: (versionIds: readonly StateVersionId[]): Promise<void> => deleteOutputs(em, versionIds),
});

/** An output with the placement of its workspace, for authorization. */
export type OutputWithTarget = StateVersionOutput & { organizationId: string; projectId: string };

/** The outputs of a workspace's current version; `current` is omitted if the workspace has no current version. */
export interface CurrentOutputs {
  workspaceState: WorkspaceStateView;
  current?: { version: StoredVersion; outputs: Page<StateVersionOutput> };
}

type CurrentOutputsRow = WorkspaceStateView & {
  version: StoredVersionJson | null;
  total: number;
  /** Null if the page is empty. */
  outputs: StateVersionOutput[] | null;
};

/** SQL: the columns of a `StateVersionOutput`. The value of a sensitive output is withheld. */
const columns = `output.id, output.state_version_id as "stateVersionId",
  version.workspace_id as "workspaceId", output.name, output.sensitive, output.type,
  output.detailed_type as "detailedTypeJson", output.value as "valueJson"`;
/** SQL: the columns of an `OutputWithTarget`. */
const columnsWithTarget = `${columns}, workspace.organization_id as "organizationId",
  workspace.project_id as "projectId"`;
/** SQL: like `isVisible`, but excludes soft-deleted versions, whose outputs are hidden. */
const isReadable = `${isVisible} and version.status <> 'backing_data_soft_deleted'`;

// index: workspace_states_pkey, state_versions_pkey, state_version_outputs_position
const selectCurrent = `
  select ${workspaceStateColumns},
    case when version.id is not null then ${storedVersion} end as version,
    (select count(*) from state_version_outputs where state_version_id = version.id) as total,
    (select json_agg(listed order by listed.position) from (
       select ${columns}, output.position from state_version_outputs output
       where output.state_version_id = version.id
       order by output.position limit $2 offset $3) listed) as outputs
  from workspace_states workspace
  left join state_versions version on version.id = workspace.current_version_id
  where workspace.workspace_id = $1`;

const reads = (database: Database, cipher: ColumnCipher) => ({
  /** Returns one output with its value. */
  async get(id: StateVersionOutputId): Promise<OutputWithTarget> {
    // index: state_version_outputs_pkey
    const [row] = await database.query<OutputWithTarget & OutputRow>(
      `select ${columnsWithTarget}, output.sealed_value as "sealedValue" from state_version_outputs output
       join state_versions version on version.id = output.state_version_id
       join workspace_states workspace using (workspace_id)
       where output.id = $1 and ${isReadable}`,
      [id],
    );
    if (!row) throw outputNotFound();
    return decrypted(row, cipher);
  },

  /**
   * Returns the workspace's state, and its current version with a page of the version's outputs, in one statement. The
   * values of sensitive outputs are withheld.
   */
  async findCurrent(id: WorkspaceId, page: PageInput): Promise<CurrentOutputs | undefined> {
    const [row] = await database.query<CurrentOutputsRow>(selectCurrent, [
      id,
      page.size,
      offsetOf(page),
    ]);
    if (!row) return undefined;
    const { version, outputs, total, ...workspaceState } = row;
    if (!version || workspaceState.droppedAt) return { workspaceState };
    return {
      workspaceState,
      current: { version: storedVersionOf(version), outputs: { rows: outputs ?? [], total } },
    };
  },

  /** Returns the outputs of a version with their values, even if they are sensitive. */
  async list(versionId: StateVersionId, page: PageInput): Promise<Page<StateVersionOutput>> {
    const { rows, total } = await database.page<OutputRow>(
      // index: state_version_outputs_position, for both
      withTotal({
        count: "select count(*) as total from state_version_outputs where state_version_id = $1",
        select: `select ${columns}, output.sealed_value as "sealedValue",
              output.position from state_version_outputs output
            join state_versions version on version.id = output.state_version_id
            where output.state_version_id = $1 order by output.position limit $2 offset $3`,
        order: "listed.position",
      }),
      [versionId, page.size, offsetOf(page)],
    );
    return { rows: rows.map((row) => decrypted(row, cipher)), total };
  },

  /** Returns the first outputs of each version, for documents that include outputs. Withholds sensitive values. */
  async listOfVersions(ids: readonly StateVersionId[]): Promise<OutputWithTarget[]> {
    // index: state_version_outputs_position
    return database.query<OutputWithTarget>(
      `select ${columnsWithTarget} from state_version_outputs output
       join state_versions version on version.id = output.state_version_id
       join workspace_states workspace using (workspace_id)
       where output.state_version_id = any($1) and output.position < $2 and ${isReadable}
       order by output.state_version_id, output.position`,
      [ids, includedOutputs(ids)],
    );
  },

  /**
   * Returns the first outputs of each workspace's current version, for documents that include outputs. Withholds
   * sensitive values.
   */
  async listOfWorkspaces(ids: readonly WorkspaceId[]): Promise<OutputWithTarget[]> {
    // index: workspace_states_pkey, state_version_outputs_position
    return database.query<OutputWithTarget>(
      `select ${columnsWithTarget} from workspace_states workspace
       join state_versions version on version.id = workspace.current_version_id
       join state_version_outputs output on output.state_version_id = version.id
       where workspace.workspace_id = any($1) and output.position < $2 and ${isVisible}
       order by output.state_version_id, output.position`,
      [ids, includedOutputs(ids)],
    );
  },
});

export const stateVersionOutputs = { rows, reads };
