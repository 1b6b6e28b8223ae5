import { type EntityManager, newId, queryIn, type Sealer } from "@statehouse/postgres";
import type { ExtractedOutput } from "../domain/extraction.ts";
import type { StateVersionId, StateVersionOutputId, WorkspaceId } from "../domain/ids.ts";
import type { StateVersionOutput } from "../domain/state-version-output.ts";

/** Where an output's sealed value lives. */
export const outputPlace = (rowId: string) => ({
  table: "state_version_output",
  column: "sealed_value",
  rowId,
});

/** Inserts a version's outputs in one statement, sensitive values sealed. */
export async function insertOutputs(
  em: EntityManager,
  sealer: Sealer,
  versionId: StateVersionId,
  outputs: readonly ExtractedOutput[],
): Promise<void> {
  if (outputs.length === 0) return;
  const rows = outputs.map((output, position) => {
    const id = newId("wsout");
    const { name, sensitive, type, detailedTypeJson, valueJson } = output;
    return {
      id,
      position,
      name,
      sensitive,
      type,
      detailed_type: detailedTypeJson,
      value: sensitive ? null : valueJson,
      sealed_value: sensitive ? sealer.seal(valueJson, outputPlace(id)) : null,
    };
  });
  await queryIn(
    em,
    `insert into state_version_output
       (id, state_version_id, position, name, sensitive, type, detailed_type, value, sealed_value)
     select id, $1, position, name, sensitive, type, detailed_type, value, sealed_value
     from json_to_recordset($2) as given (id text, position integer, name text, sensitive boolean,
       type text, detailed_type text, value text, sealed_value text)`,
    [versionId, JSON.stringify(rows)],
  );
}

/** Deletes the outputs of versions that the transaction holds. */
export async function deleteOutputs(
  em: EntityManager,
  versionIds: readonly StateVersionId[],
): Promise<void> {
  // index: state_version_output_position
  await queryIn(em, "delete from state_version_output where state_version_id = any($1)", [
    versionIds,
  ]);
}

export interface OutputRow {
  id: StateVersionOutputId;
  state_version_id: StateVersionId;
  workspace_id: WorkspaceId;
  name: string;
  sensitive: boolean;
  type: string;
  detailed_type: string;
  value: string | null;
  sealed_value: string | null;
}

/** The columns of an `OutputRow`, from `output` and `version`. */
export const outputColumns = `output.id, output.state_version_id, version.workspace_id, output.name,
  output.sensitive, output.type, output.detailed_type, output.value`;

/** An output with its value withheld if it is sensitive. */
export const withheldOutput = (row: Omit<OutputRow, "sealed_value">): StateVersionOutput => ({
  id: row.id,
  stateVersionId: row.state_version_id,
  workspaceId: row.workspace_id,
  name: row.name,
  sensitive: row.sensitive,
  type: row.type,
  detailedTypeJson: row.detailed_type,
  valueJson: row.value,
});

const clearValue = (row: Pick<OutputRow, "id" | "value" | "sealed_value">, sealer: Sealer) =>
  row.sealed_value === null ? row.value : sealer.unseal(row.sealed_value, outputPlace(row.id));

/** An output with its value in clear. */
export const clearOutput = (row: OutputRow, sealer: Sealer): StateVersionOutput => ({
  ...withheldOutput(row),
  valueJson: clearValue(row, sealer),
});

/** An output as it was found or given. */
export const outputAsFound = (
  row: Omit<OutputRow, "state_version_id" | "workspace_id">,
  sealer: Sealer,
): ExtractedOutput => ({
  name: row.name,
  sensitive: row.sensitive,
  type: row.type,
  detailedTypeJson: row.detailed_type,
  valueJson: clearValue(row, sealer) ?? "null",
});
