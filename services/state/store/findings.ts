import { type EntityManager, queryIn, type Sealer } from "@statehouse/postgres";
import type { StateVersionId } from "../domain/ids.ts";
import { deleteOutputs, insertOutputs, type OutputRow, outputAsFound } from "./outputs.ts";

/** Gives a version the outputs and resources of another. */
export async function copyFindings(
  em: EntityManager,
  sealer: Sealer,
  from: StateVersionId,
  to: StateVersionId,
): Promise<void> {
  await queryIn(
    em,
    // index: state_version_pkey
    `update state_version set resources = source.resources, modules = source.modules,
       providers = source.providers
     from state_version source where source.id = $1 and state_version.id = $2`,
    [from, to],
  );
  const rows = await queryIn<Omit<OutputRow, "state_version_id" | "workspace_id">>(
    em,
    // index: state_version_output_position
    `select id, name, sensitive, type, detailed_type, value, sealed_value
     from state_version_output where state_version_id = $1 order by position`,
    [from],
  );
  // Sealed values belong to their row: the copy's are sealed anew.
  await insertOutputs(
    em,
    sealer,
    to,
    rows.map((row) => outputAsFound(row, sealer)),
  );
}

/** Deletes the versions' outputs and what was found in their states, and takes their contents from them. */
export async function endContents(
  em: EntityManager,
  ids: readonly StateVersionId[],
): Promise<void> {
  await deleteOutputs(em, ids);
  // Nothing is left to read, and nobody is to wait for it.
  await queryIn(
    em,
    // index: state_version_pkey
    `update state_version set status = 'backing_data_permanently_deleted', soft_deleted_at = null,
       blob_key = null, sha256 = null, json_blob_key = null, json_sha256 = null, json_size = null,
       extraction_due_at = null, resources_processed = true,
       resources = '[]', modules = '{}', providers = '{}'
     where id = any($1)`,
    [ids],
  );
}
