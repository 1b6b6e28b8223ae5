import type { EntitySchema } from "@mikro-orm/core";
import { MikroORM } from "@mikro-orm/postgresql";
import { deadlineExceeded } from "@statehouse/errors";
import {
  type Changing,
  currentOf,
  type Logger,
  remainingMs,
  spansAreRecorded,
} from "@statehouse/runtime";
import { Client, type ClientBase, type Pool } from "pg";
import { asAppError, isStalePlan } from "./failures.ts";
import { missingMigrations, type SqlMigration } from "./migrations.ts";
import type { Page } from "./paging.ts";
import { observePool } from "./pool-metrics.ts";
import { createLoginWatch } from "./rejected-login.ts";
import { requireSupportedServer } from "./server-version.ts";
import {
  exposeStatementCount,
  observeStatements,
  prepared,
  type StatementListener,
  traced,
  withClientTimeout,
} from "./statements.ts";
import { runTransaction, type TransactionMode } from "./transaction.ts";
import type { EntityManager } from "./unit-of-work.ts";
import { pageWithTotal, type RowWithTotal } from "./with-total.ts";

export interface DatabaseOptions {
  /** Unique for each service: two ORMs of one process with the same name would join each other's transactions. */
  contextName: string;
  /**
   * The address, or a function that returns the current one if it can change: new connections then use the new address,
   * and connections to the previous one are closed.
   */
  url: Changing<string>;
  entities: readonly EntitySchema[];
  migrations: readonly SqlMigration[];
  poolSize?: number;
  /** The pooling of a proxy such as PgBouncer between this process and the server; default: none. */
  pooling?: Pooling | undefined;
  /** Maximum duration of a transaction that has no earlier deadline, in ms. */
  transactionCeilingMs?: number;
  /** How long the server keeps an idle transaction open, in ms. */
  idleTransactionMs?: number;
  logger: Logger;
  /** Called for every statement, for tests that count them. */
  onStatement?: StatementListener;
}

/**
 * How a proxy assigns server connections to clients: `session` assigns one for as long as the client is connected,
 * `transaction` for one transaction. With `transaction`, the state of a connection, such as named statements, exists
 * only within a transaction. Operators' commands use `transaction`, because it works whether there is a proxy or not. The
 * server then limits the time of their transactions, but not of statements outside transactions.
 */
export type Pooling = "none" | "session" | "transaction";

export interface Database extends AsyncDisposable {
  readonly orm: MikroORM;
  /**
   * Runs `work` in a transaction, writes its changes to the database and commits. The transaction ends at the caller's
   * deadline and is repeated after a deadlock. Throws `unavailable` if the database does not respond; if only the
   * response to COMMIT is missing, the transaction may have been committed.
   */
  transaction<T>(work: (em: EntityManager) => Promise<T>, mode?: TransactionMode): Promise<T>;
  /**
   * Runs one statement with `$1` placeholders and a cached plan, outside any transaction. Returns timestamps as `Date`
   * and bigints as numbers.
   */
  query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
  /** Runs a `withTotal` statement like `query`. */
  page<Row extends { id: string }>(sql: string, params: readonly unknown[]): Promise<Page<Row>>;
  /**
   * Returns the names of the migrations that the database lacks. Throws `StartError` if a commit before version 0.1.0
   * created it.
   */
  missingMigrations(): Promise<string[]>;
  /**
   * Throws the reason if the database does not respond, has rejected new connections for a while, its server is too old,
   * or it lacks migrations.
   */
  ready(): Promise<void>;
}

const DEFAULT_POOL_SIZE = 20;
const DEFAULT_CEILING_MS = 60_000;
/**
 * How long the server keeps an idle transaction open, in ms. Only the server can release the row locks of a transaction
 * whose client has stopped responding. The limit exceeds the longest wait between two statements: the relay waits up to
 * about 15 s for the bus, and all other transactions wait only for the database.
 */
const DEFAULT_IDLE_TRANSACTION_MS = 20_000;
const CONNECT_TIMEOUT_MS = 5000;

/** Sets up the ORM and its pool. Connects at first use, so a service can start before its database. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { contextName, logger } = options;
  const ceilingMs = options.transactionCeilingMs ?? DEFAULT_CEILING_MS;
  const { poolSize = DEFAULT_POOL_SIZE, pooling = "none" } = options;
  const named = pooling !== "transaction";
  const { orm, pool } = createOrm({ ...options, poolSize });
  exposeStatementCount();
  const poolMetrics = observePool(pool, contextName, poolSize);
  const login = createLoginWatch(() => connectOnce(currentOf(options.url)()), logger);
  pool.on("connect", () => login.accepted());

  const query = async <Row>(sql: string, params: readonly unknown[] = []): Promise<Row[]> => {
    const left = Math.min(remainingMs() ?? ceilingMs, ceilingMs);
    if (left === 0) throw deadlineExceeded();
    const send = () => pool.query(withClientTimeout(left, prepared(sql, params, named)));
    try {
      const { rows } = await (spansAreRecorded() ? traced(sql, send) : send());
      return rows;
    } catch (error) {
      login.failed(error);
      // The pool has closed the connection that had the stale plan. The statement is repeated without a name, so that
      // PostgreSQL plans it again.
      if (isStalePlan(error)) {
        const unnamed = { text: sql, values: [...params] };
        return (await pool.query(withClientTimeout(left, unnamed))).rows;
      }
      throw asAppError(error);
    }
  };
  const fork = () => orm.em.fork({ disableContextResolution: true });
  const missing = async () => {
    const found = await missingMigrations(query, contextName, options.migrations);
    return found.map(({ name }) => name);
  };

  return {
    orm,
    async transaction(work, mode) {
      try {
        return await runTransaction({ pool, fork, ceilingMs, named, logger, ...mode }, work);
      } catch (error) {
        login.failed(error);
        throw error;
      }
    },
    query,
    page: async <Row extends { id: string }>(sql: string, params: readonly unknown[]) =>
      pageWithTotal(await query<RowWithTotal<Row>>(sql, params)),
    missingMigrations: missing,
    async ready() {
      await login.ready();
      await requireSupportedServer(query);
      const names = await missing();
      if (names.length > 0) {
        throw new Error(
          `the schema of ${contextName} lacks ${names.join(", ")}: run the migrate command`,
        );
      }
    },
    async [Symbol.asyncDispose]() {
      poolMetrics[Symbol.dispose]();
      await orm.close(true);
      // `orm.close` ends the pool only if the ORM has used the pool.
      if (!pool.ending) await pool.end();
    },
  };
}

function createOrm({
  contextName,
  url,
  entities,
  poolSize,
  pooling = "none",
  transactionCeilingMs = DEFAULT_CEILING_MS,
  idleTransactionMs = DEFAULT_IDLE_TRANSACTION_MS,
  logger,
  onStatement,
}: DatabaseOptions & { poolSize: number }): { orm: MikroORM; pool: Pool } {
  let pool: Pool | undefined;
  const currentUrl = currentOf(url);
  const orm = new MikroORM({
    contextName,
    clientUrl: currentUrl(),
    entities: [...entities],
    discovery: { warnWhenNoEntities: false },
    ensureDatabase: false,
    // Changes are found by comparison with what was loaded. The accessors that would notice each assignment double the
    // CPU time of a loaded row.
    propagationOnPrototype: false,
    logger: (message) => logger.debug(message),
    driverOptions: {
      connectionString: currentUrl(),
      application_name: contextName,
      max: poolSize,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      // Statements that are sent together take one round trip.
      pipeline: true,
      // Poolers refuse these connection parameters; docs/operations.md describes how to set them for the role instead.
      ...(pooling === "none" && {
        statement_timeout: transactionCeilingMs,
        idle_in_transaction_session_timeout: idleTransactionMs,
      }),
      onPoolCreated: (created: Pool) => {
        pool = created;
        followUrl(created, currentUrl);
        created.on("connect", (client) => observeStatements(client, contextName, onStatement));
      },
    },
  });
  orm.em.getConnection().getClient();
  if (!pool) throw new Error("MikroORM created no pool");
  return { orm, pool };
}

/** Opens a connection and closes it. */
async function connectOnce(connectionString: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await client.connect();
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Makes `pool` open new connections with the current URL. Connections that were opened with an earlier URL are closed
 * when they are released.
 */
function followUrl(pool: Pool, currentUrl: () => string): void {
  Object.defineProperty(pool.options, "connectionString", { get: currentUrl, enumerable: true });
  const opened = new WeakMap<ClientBase, string>();
  pool.on("connect", (client) => opened.set(client, currentUrl()));
  pool.on("release", (_error, client) => {
    // The pool does not keep a client that is ending. Idle clients of a previous URL are closed by the pool's idle time
    // limit.
    if (opened.get(client) !== currentUrl()) endClient(client);
  });
}

/**
 * Ends a client of the pool. The types of the driver hide the method `end`, because normally only the pool ends its
 * clients.
 */
function endClient(client: ClientBase): void {
  const end: unknown = Reflect.get(client, "end");
  if (typeof end === "function") void end.call(client);
}
