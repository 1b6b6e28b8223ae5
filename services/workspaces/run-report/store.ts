import { type EntityManager, queryIn } from "@statehouse/postgres";
import { reportedByOther } from "../errors-domain.ts";

/** The columns of a stored report, by their names in the table. */
interface ReportColumns extends Readonly<Record<string, unknown>> {
  id: string;
  workspace_id: string;
  runner: string;
}

/**
 * Inserts a report or replaces the stored report with its id. Throws a conflict if a concurrent report from another
 * runner or for another workspace was stored first.
 */
export async function saveReport(
  em: EntityManager,
  table: "runs" | "configuration_versions",
  columns: ReportColumns,
): Promise<void> {
  // Not a record: the lock of this workspace's row does not exclude a concurrent report for another workspace. The
  // upsert detects that report, and the error names the id.
  const names = Object.keys(columns);
  const [saved] = await queryIn(
    em,
    // index: runs_pkey, configuration_versions_pkey
    `insert into ${table} (${names.join(", ")}) values (${names.map((_, n) => `$${n + 1}`).join(", ")})
     on conflict (id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(", ")}
       where ${table}.workspace_id = excluded.workspace_id and ${table}.runner = excluded.runner
     returning id`,
    Object.values(columns),
  );
  if (!saved) throw reportedByOther(columns.id);
}
