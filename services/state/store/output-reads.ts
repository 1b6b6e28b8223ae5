import type { Database, Sealer } from "@statehouse/postgres";
import type { StateVersionId, StateVersionOutputId, WorkspaceId } from "../domain/ids.ts";
import type { StateVersionOutput } from "../domain/state-version-output.ts";
import { clearOutput, type OutputRow, outputColumns, withheldOutput } from "./outputs.ts";
import { type Slice, totalOf } from "./slice.ts";
import { undropped } from "./undropped.ts";

/** An output with where its workspace belongs, for authorization. */
export type PlacedOutput = StateVersionOutput & { organizationId: string; projectId: string };

export interface OutputReads {
  /** One, with its value in clear. */
  output(id: StateVersionOutputId): Promise<PlacedOutput | undefined>;
  listOutputs(
    id: StateVersionId,
    slice: Slice,
  ): Promise<{ outputs: StateVersionOutput[]; total: number }>;
  outputsOfVersions(ids: readonly StateVersionId[]): Promise<PlacedOutput[]>;
  /** Of the workspaces' current versions. */
  outputsOfWorkspaces(ids: readonly WorkspaceId[]): Promise<PlacedOutput[]>;
}

type PlacedRow = Omit<OutputRow, "sealed_value"> & { organization_id: string; project_id: string };

const placedColumns = `${outputColumns}, workspace.organization_id, workspace.project_id`;
/** Outputs are part of the data that a soft deletion hides. */
const readable = `${undropped} and version.status <> 'backing_data_soft_deleted'`;

const placed = (row: PlacedRow): PlacedOutput => ({
  ...withheldOutput(row),
  organizationId: row.organization_id,
  projectId: row.project_id,
});

export const createOutputReads = (database: Database, sealer: Sealer): OutputReads => ({
  async output(id) {
    // index: state_version_output_pkey
    const [row] = await database.query<PlacedRow & OutputRow>(
      `select ${placedColumns}, output.sealed_value from state_version_output output
       join state_version version on version.id = output.state_version_id
       join workspace_state workspace using (workspace_id)
       where output.id = $1 and ${readable}`,
      [id],
    );
    return row && { ...placed(row), ...clearOutput(row, sealer) };
  },
  async listOutputs(id, { limit, offset }) {
    // index: state_version_output_position
    const rows = await database.query<OutputRow>(
      `select ${outputColumns} from state_version_output output
       join state_version version on version.id = output.state_version_id
       where output.state_version_id = $1 order by output.position limit $2 offset $3`,
      [id, limit, offset],
    );
    const total = await totalOf(rows.length, { limit, offset }, async () => {
      const [row] = await database.query<{ total: number }>(
        "select count(*) as total from state_version_output where state_version_id = $1",
        [id],
      );
      return row?.total ?? 0;
    });
    return { outputs: rows.map(withheldOutput), total };
  },
  async outputsOfVersions(ids) {
    // index: state_version_output_position
    const rows = await database.query<PlacedRow>(
      `select ${placedColumns} from state_version_output output
       join state_version version on version.id = output.state_version_id
       join workspace_state workspace using (workspace_id)
       where output.state_version_id = any($1) and ${readable}
       order by output.state_version_id, output.position`,
      [ids],
    );
    return rows.map(placed);
  },
  async outputsOfWorkspaces(ids) {
    // index: workspace_state_pkey, state_version_output_position
    const rows = await database.query<PlacedRow>(
      `select ${placedColumns} from workspace_state workspace
       join state_version version on version.id = workspace.current_version_id
       join state_version_output output on output.state_version_id = version.id
       where workspace.workspace_id = any($1) and ${undropped}
       order by output.state_version_id, output.position`,
      [ids],
    );
    return rows.map(placed);
  },
});
