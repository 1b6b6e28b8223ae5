import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { Client } from "pg";
import { migrations } from "../../migrations.ts";
import { entities } from "../../nouns.ts";
import { insertOrganization } from "../rows.ts";

export type SeededDatabase = Awaited<ReturnType<typeof seededDatabase>>;

/** Creates a database with an organization and the rows that the SQL `rows` inserts. */
export async function seededDatabase(organization: { id: string; name: string }, rows: string) {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await freshDatabase({ contextName: "workspaces", migrations }));
  const client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  await insertOrganization((text, values) => client.query(text, values), organization);
  await client.query(rows);
  await client.query("vacuum analyze");
  const statements: string[] = [];
  const logger = createLogger({ service: "test", level: "silent" });
  const onStatement = (text: string) => void statements.push(text);
  const database = stack.use(
    await openDatabase({
      contextName: "workspaces",
      ...{ url, entities, migrations, logger, onStatement },
    }),
  );
  const opened = stack.move();
  return {
    database,
    /** The SQL statements that `database` has sent to PostgreSQL, in order. */
    statements,
    /** Returns the generic plan of a statement, which does not depend on the values of its parameters. */
    async planOf(sql: string): Promise<string> {
      const { rows: lines } = await client.query(`explain (generic_plan) ${sql}`);
      return lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
