import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { hasCode } from "@statehouse/errors";
import { withRetry } from "@statehouse/runtime";
import { Client } from "pg";
import { isRetryable } from "./failures.ts";

/**
 * One forward step. It must be safe while the previous release still runs: a migration only expands the schema, and a
 * migration of a later release contracts it.
 */
export interface SqlMigration {
  /**
   * The migration's name, for example `0001_init`. Migrations are applied in the order of their names. A released
   * migration is never renamed or edited.
   */
  name: string;
  up: string;
}

export interface MigrateOptions {
  url: string;
  /** The service that owns the database, for messages. */
  contextName: string;
  migrations: readonly SqlMigration[];
}

/** An arbitrary number for the advisory lock, the same in every release. Advisory locks are per database. */
const LOCK = "7031406125";
const LOCK_TIMEOUT_MS = 3000;
const ATTEMPTS = 10;

/**
 * Applies missing migrations in order, each in its own transaction. A concurrent run waits for the first one. A
 * migration that does not get its table lock within seconds gives up its place in the lock queue and retries, so that
 * it does not block other transactions.
 */
export async function migrate({ url, contextName, migrations }: MigrateOptions): Promise<string[]> {
  const client = new Client({ connectionString: url, application_name: `${contextName} migrate` });
  // A lost connection also fails the current query. Without a listener, the 'error' event would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(${LOCK})`);
    await client.query(
      `create table if not exists schema_migrations (
        name text primary key,
        applied_at timestamptz not null default now()
      )`,
    );
    const { rows } = await client.query<{ name: string }>("select name from schema_migrations");
    const applied = new Set(rows.map((row) => row.name));
    const pending = inOrder(migrations).filter(({ name }) => !applied.has(name));
    for (const migration of pending) await apply(client, contextName, migration);
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/**
 * Returns the migrations of a folder of `.sql` files, ordered by name. The file name without `.sql` is the migration's
 * name. The database records the name, so a released file is never renamed.
 */
export const readMigrations = (folder: string): SqlMigration[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .toSorted()
    .map((file) => ({
      name: path.basename(file, ".sql"),
      up: readFileSync(path.join(folder, file), "utf8"),
    }));

/** Returns the names of those `migrations` that are not in `applied`. */
export function missingMigrations(
  migrations: readonly SqlMigration[],
  applied: Iterable<string>,
): string[] {
  const known = new Set(applied);
  return migrations.map(({ name }) => name).filter((name) => !known.has(name));
}

async function apply(client: Client, contextName: string, migration: SqlMigration): Promise<void> {
  const pauseMs = (attempt: number) => Math.min(5000, 100 * 2 ** attempt);
  try {
    await withRetry({ attempts: ATTEMPTS, isRetryable: isRepeatable, pauseMs }, async () => {
      try {
        await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await client.query(migration.up);
        await client.query("insert into schema_migrations (name) values ($1)", [migration.name]);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback");
        throw error;
      }
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Migration ${migration.name} of ${contextName} failed: ${reason}`, {
      cause: error,
    });
  }
}

function isRepeatable(error: unknown): boolean {
  // lock_not_available: the migration waited longer than lock_timeout.
  return hasCode(error, "55P03") || isRetryable(error);
}

function inOrder(migrations: readonly SqlMigration[]): SqlMigration[] {
  const sorted = migrations.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const double = sorted.find(({ name }, index) => sorted[index + 1]?.name === name);
  if (double) throw new Error(`Two migrations are called ${double.name}`);
  return sorted;
}
