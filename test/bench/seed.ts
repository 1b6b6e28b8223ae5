import { Client } from "pg";
import { analyze } from "./bare/bare.ts";

/**
 * Inserts rows directly into a service's database, because creating ten thousand objects through the API would take
 * longer than the rest of the bench.
 */
export interface Seed {
  sql(text: string, values?: unknown[]): Promise<void>;
  /**
   * Copies the row `id` of a table once for each `n` from 1 to `count`. `changes` contains SQL expressions for columns
   * that differ; they may use `n`.
   */
  copies(
    table: string,
    id: string,
    count: number,
    changes: Readonly<Record<string, string>>,
  ): Promise<void>;
}

/** Runs `work` on the database, and then ANALYZE. */
export async function seed(url: string, work: (seed: Seed) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work({
      sql: async (text, values) => void (await client.query(text, values)),
      copies: async (table, id, count, changes) => {
        const { rows } = await client.query<{ name: string }>(
          "select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped",
          [table],
        );
        const names = rows.map(({ name }) => name);
        const values = names.map((name) => changes[name] ?? `original.${name}`);
        await client.query(
          `insert into ${table} (${names.join(", ")}) select ${values.join(", ")}
           from ${table} original, generate_series(1, $2::int) n where original.id = $1`,
          [id, count],
        );
      },
    });
  } finally {
    await client.end();
  }
  await analyze(url);
}
