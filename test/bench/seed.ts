import { Client } from "pg";

/**
 * Inserts rows directly into a service's database, because creating ten thousand objects through the API would take
 * longer than the rest of the bench.
 */
export interface Seed {
  sql(text: string, values?: unknown[]): Promise<void>;
  /**
   * Copies one row of a table, once for each `n` from 1 to `count`: the row that has the value `id` in the column `key`
   * (default: the column `id`). `changes` contains SQL expressions for columns that differ; they may use `n`.
   */
  copies(
    table: string,
    id: string,
    count: number,
    changes: Readonly<Record<string, string>>,
    key?: string,
  ): Promise<void>;
  /**
   * Runs `work` without triggers, without foreign-key checks, and without the indexes of `table` that do not belong to
   * a constraint. Creating the indexes again takes less time than maintaining them.
   */
  inBulk(table: string, work: () => Promise<void>): Promise<void>;
}

/** Runs `work` on the database, and then runs VACUUM ANALYZE. */
export async function seed(url: string, work: (seed: Seed) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work({
      sql: async (text, values) => void (await client.query(text, values)),
      copies: async (table, id, count, changes, key = "id") => {
        const { rows } = await client.query<{ name: string }>(
          "select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped",
          [table],
        );
        const names = rows.map(({ name }) => name);
        const values = names.map((name) => changes[name] ?? `original.${name}`);
        await client.query(
          `insert into ${table} (${names.join(", ")}) select ${values.join(", ")}
           from ${table} original, generate_series(1, $2::int) n where original.${key} = $1`,
          [id, count],
        );
      },
      inBulk: async (table, work) => {
        const { rows } = await client.query<{ name: string; definition: string }>(
          `select i.indexrelid::regclass as name, pg_get_indexdef(i.indexrelid) as definition
           from pg_index i where i.indrelid = $1::regclass
             and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
          [table],
        );
        for (const { name } of rows) await client.query(`drop index ${name}`);
        await client.query("set session_replication_role = replica");
        await work();
        await client.query("reset session_replication_role");
        await client.query("set maintenance_work_mem = '512MB'");
        for (const { definition } of rows) await client.query(definition);
      },
    });
    // New tables have no statistics before the first autovacuum.
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}
