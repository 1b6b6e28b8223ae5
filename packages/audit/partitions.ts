import type { Database } from "@statehouse/postgres";
import { type Logger, startLoop } from "@statehouse/runtime";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

export interface PartitionOptions {
  database: Pick<Database, "query">;
  retentionDays: number;
  logger: Logger;
}

/**
 * Creates the missing partitions of this month and of the two following months. Drops the partitions whose records were
 * all recorded and sealed more than `retentionDays` days ago.
 */
export async function maintainPartitions(
  { database, retentionDays, logger }: PartitionOptions,
  now: Date,
): Promise<void> {
  await database.query("select create_audit_partitions($1)", [now]);
  const before = new Date(now.getTime() - retentionDays * DAY_MS);
  const dropped = await database.query<{ name: string }>(
    "select drop_audit_partitions($1) as name",
    [before],
  );
  for (const { name } of dropped) logger.info({ partition: name }, "audit partition dropped");
}

/** Maintains the partitions of the audit records while the service runs. */
export const startPartitions = (options: PartitionOptions): AsyncDisposable =>
  startLoop({
    name: "audit partitions",
    intervalMs: HOUR_MS,
    logger: options.logger,
    async work() {
      await maintainPartitions(options, new Date());
      return false;
    },
  });
