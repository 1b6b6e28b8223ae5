import { createHash, randomBytes } from "node:crypto";
import { sharedDependencies } from "@statehouse/testing";
import { Client, escapeIdentifier, Pool } from "pg";
import { migrate, type SqlMigration } from "../index.ts";

export interface FreshDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  /** Queries the tables directly, for tests of values that no other interface shows. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Creates a database for one test file, with `migrations` applied; disposal drops it. */
export async function freshDatabase(options: {
  contextName: string;
  migrations: readonly SqlMigration[];
}): Promise<FreshDatabase> {
  const name = `${options.contextName}_${randomBytes(6).toString("hex")}`;
  await asAdministrator(async (client) => {
    const template = await migratedTemplate(client, options);
    await client.query(
      `CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)}`,
    );
  });
  const drop = () =>
    asAdministrator(async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
    });
  const pool = new Pool({ connectionString: urlOf(name) });
  // Errors of idle connections, and of connections that are closed because their database is dropped, are expected.
  pool.on("error", () => {});
  return {
    name,
    url: urlOf(name),
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await pool.query<Row>(text, [...values])).rows,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await drop();
    },
  };
}

/**
 * Returns the name of a migrated template database, which is created once per run and then copied. The template is
 * renamed when it is complete, so that an existing template is always complete.
 */
async function migratedTemplate(
  client: Client,
  { contextName, migrations }: { contextName: string; migrations: readonly SqlMigration[] },
): Promise<string> {
  const content = createHash("sha256").update(JSON.stringify(migrations)).digest("hex");
  const template = `template_${contextName}_${content.slice(0, 16)}`;
  await client.query("SELECT pg_advisory_lock(hashtext($1))", [template]);
  try {
    const found = await client.query("SELECT FROM pg_database WHERE datname = $1", [template]);
    if (found.rowCount === 0) {
      const draft = `draft_${randomBytes(6).toString("hex")}`;
      await client.query(`CREATE DATABASE ${draft}`);
      await migrate({ url: urlOf(draft), contextName, migrations });
      await client.query(`ALTER DATABASE ${draft} RENAME TO ${escapeIdentifier(template)}`);
    }
  } finally {
    await client.query("SELECT pg_advisory_unlock(hashtext($1))", [template]);
  }
  return template;
}

function urlOf(database: string): string {
  const url = new URL(sharedDependencies().postgres.url);
  url.pathname = `/${database}`;
  return url.href;
}

async function asAdministrator<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: sharedDependencies().postgres.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
