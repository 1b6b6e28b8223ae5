import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { hasCode } from "@statehouse/errors";
import { StartError, withRetry } from "@statehouse/runtime";
import { Client, escapeIdentifier } from "pg";
import { isLost, isRetryable } from "./failures.ts";
import { requireSupportedServer } from "./server-version.ts";

/**
 * One forward step. It must be safe while the previous release still runs: a migration only expands the schema, and a
 * migration of a later release contracts it.
 */
export interface SqlMigration {
  /**
   * The migration's name, for example `0001_baseline`. Migrations are applied in the order of their names. A released
   * migration is never renamed or edited.
   */
  name: string;
  up: string;
}

export interface MigrateOptions {
  url: string;
  /** The name of the service that owns the database; messages contain it. */
  contextName: string;
  migrations: readonly SqlMigration[];
  /** The role of the running service. It receives only the rights to read and write rows and to call functions. */
  grantTo?: string | undefined;
  /** How long to wait for a database that is not available yet, in ms. Default: 0. */
  waitMs?: number | undefined;
  /** Called once if the command waits, with the reason. */
  onWait?: ((reason: string) => void) | undefined;
}

/** An arbitrary number for the advisory lock, the same in every release. Advisory locks are per database. */
const LOCK = "7031406125";
const LOCK_TIMEOUT_MS = 3000;
const ATTEMPTS = 10;
const CONNECT_TIMEOUT_MS = 5000;
/** The pause between two attempts to connect to a database that is not available yet. */
const WAIT_PAUSE_MS = 500;

/**
 * Applies missing migrations in order, each in its own transaction. If another run is in progress, waits until it has
 * ended. A migration that does not get its table lock within seconds gives up its place in the lock queue and retries,
 * so that it does not block other transactions. Returns the names of the migrations that this run applied.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { contextName, migrations, grantTo } = options;
  const client = await connected(options);
  try {
    await requireSupportedServer(async (sql) => (await client.query(sql)).rows);
    await client.query(`select pg_advisory_lock(${LOCK})`);
    await client.query(
      `create table if not exists schema_migrations (
        name text primary key,
        digest text not null,
        applied_at timestamptz not null default now()
      )`,
    );
    const query = async (sql: string) => (await client.query<AppliedMigration>(sql)).rows;
    const missing = await missingMigrations(query, contextName, migrations);
    for (const migration of missing) await apply(client, contextName, migration);
    if (grantTo !== undefined) await grantRows(client, grantTo);
    return missing.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** Connects; waits at most `waitMs` for a database that is starting or not created yet. Throws `StartError`. */
async function connected(options: MigrateOptions): Promise<Client> {
  const { url, contextName, waitMs = 0, onWait } = options;
  const end = Date.now() + waitMs;
  let waiting = false;
  const attempt = async (): Promise<Client> => {
    const client = new Client({
      connectionString: url,
      application_name: `${contextName} migrate`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    // A lost connection also fails the current query. Without a listener, the 'error' event would end the process.
    client.on("error", () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  };
  const isRetryable = (error: unknown): boolean => {
    if (!isNotThereYet(error) || Date.now() >= end) return false;
    if (!waiting) onWait?.(reasonOf(error));
    waiting = true;
    return true;
  };
  const attempts = Number.POSITIVE_INFINITY;
  const pauseMs = () => Math.min(WAIT_PAUSE_MS, Math.max(1, end - Date.now()));
  try {
    return await withRetry({ attempts, isRetryable, pauseMs }, attempt);
  } catch (error) {
    const late = waiting ? ` within ${waitMs / 1000} seconds` : "";
    throw new StartError(
      `The database of ${contextName} could not be used${late}: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/** Returns whether the server does not respond, or runs but does not have the database yet (invalid_catalog_name). */
const isNotThereYet = (error: unknown): boolean => isLost(error) || hasCode(error, "3D000");

const reasonOf = (error: unknown): string => {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error ? first.message : String(first);
};

/**
 * Grants the right to read and write the rows of all tables and to call all functions, but not to change the record of
 * applied migrations. For the tables of later migrations, the run that creates them grants these rights.
 */
async function grantRows(client: Client, role: string): Promise<void> {
  const { rows } = await client.query<{ schema: string }>("select current_schema() as schema");
  const schema = escapeIdentifier(rows[0]?.schema ?? "public");
  const to = escapeIdentifier(role);
  await client.query(`
    grant usage on schema ${schema} to ${to};
    grant select, insert, update, delete on all tables in schema ${schema} to ${to};
    grant usage, select on all sequences in schema ${schema} to ${to};
    grant execute on all functions in schema ${schema} to ${to};
    revoke insert, update, delete on schema_migrations from ${to};
  `);
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

/** A row of `schema_migrations`. */
interface AppliedMigration {
  name: string;
  /** The SHA-256 of the migration's SQL in hex. */
  digest: string;
}

/**
 * Returns those of `migrations` that a database lacks, in order. Throws `StartError` if a commit before the release of
 * version 0.1.0 created the database: its record of applied migrations has no digests, or the digest of other contents.
 */
export async function missingMigrations(
  query: (sql: string) => Promise<AppliedMigration[]>,
  contextName: string,
  migrations: readonly SqlMigration[],
): Promise<SqlMigration[]> {
  const applied = await appliedMigrations(query);
  const digests = new Map(applied?.map(({ name, digest }) => [name, digest]));
  const isChanged = ({ name, up }: SqlMigration) => {
    const digest = digests.get(name);
    return digest !== undefined && digest !== digestOf(up);
  };
  if (applied === undefined || migrations.some(isChanged)) {
    throw new StartError(
      `The database of ${contextName} was created by a commit of Statehouse before the release of version 0.1.0, whose data cannot be used: start with an empty database, or set DATA_DIR of npm start to another folder.`,
    );
  }
  return inOrder(migrations).filter(({ name }) => !digests.has(name));
}

/** Returns the applied migrations; undefined if they were recorded without digests, as before version 0.1.0. */
async function appliedMigrations(
  query: (sql: string) => Promise<AppliedMigration[]>,
): Promise<AppliedMigration[] | undefined> {
  try {
    return await query("select name, digest from schema_migrations");
  } catch (error) {
    // undefined_table: no migration has been applied yet.
    if (hasCode(error, "42P01")) return [];
    // undefined_column
    if (hasCode(error, "42703")) return undefined;
    throw error;
  }
}

const digestOf = (sql: string): string => createHash("sha256").update(sql).digest("hex");

async function apply(client: Client, contextName: string, migration: SqlMigration): Promise<void> {
  const pauseMs = (attempt: number) => Math.min(5000, 100 * 2 ** attempt);
  try {
    await withRetry({ attempts: ATTEMPTS, isRetryable: isRepeatable, pauseMs }, async () => {
      try {
        await client.query(`begin; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await client.query(migration.up);
        await client.query("insert into schema_migrations (name, digest) values ($1, $2)", [
          migration.name,
          digestOf(migration.up),
        ]);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback");
        throw error;
      }
    });
  } catch (error) {
    const reason = reasonOf(error);
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
