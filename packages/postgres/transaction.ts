import type { EntityManager } from "@mikro-orm/postgresql";
import { deadlineExceeded } from "@statehouse/errors";
import { type Logger, remainingMs, spansAreRecorded, withRetry } from "@statehouse/runtime";
import type { Pool, PoolClient, QueryConfig } from "pg";
import { asAppError, isLost, isRetryable, isStalePlan, unstorableText } from "./failures.ts";
import { answeredWithin, prepared, traced } from "./statements.ts";

interface OpenTransaction {
  client: PoolClient;
  /** When the server ends the transaction, in ms since 1970. */
  until: number;
  named: boolean;
  open: boolean;
  hooks: (() => void)[];
}

export interface TransactionMode {
  /** Validates a request without changing anything: rolls back instead of committing, and runs no hook. */
  validateOnly?: boolean;
}

export interface TransactionOptions extends TransactionMode {
  pool: Pool;
  /** Returns a new entity manager that is not bound to a transaction. */
  fork(): EntityManager;
  /** Maximum duration of a transaction in ms. An earlier deadline of the caller takes precedence. */
  ceilingMs: number;
  /** Whether statements are named, so that their plans are cached. */
  named: boolean;
  logger: Logger;
}

const transactions = new WeakMap<EntityManager, OpenTransaction>();
const ATTEMPTS = 5;

/**
 * Runs `work` in a transaction on a separate connection instead of a connection of the ORM. The ORM's driver never
 * returns a connection whose BEGIN or ROLLBACK failed, so each restart of PostgreSQL would shrink its pool. A separate
 * connection also allows BEGIN and the time limit to be sent in one message. After a deadlock or a serialization
 * failure everything is repeated, so `work` must not change anything except through `em`.
 */
export async function runTransaction<T>(
  options: TransactionOptions,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  const pauseMs = (attempt: number) => Math.random() * 10 * 2 ** attempt;
  try {
    return await withRetry({ attempts: ATTEMPTS, isRetryable, pauseMs }, () =>
      attemptTransaction(options, work),
    );
  } catch (error) {
    throw asAppError(error);
  }
}

async function attemptTransaction<T>(
  { pool, fork, ceilingMs, named, logger, validateOnly = false }: TransactionOptions,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  const { client, until } = await begin(pool, ceilingMs);
  const transaction: OpenTransaction = { client, until, named, open: true, hooks: [] };
  let broken = false;
  let result: T;
  try {
    const em = fork();
    em.setTransactionContext(ormContext(transaction));
    transactions.set(em, transaction);
    result = await work(em);
    await em.flush();
    const end = validateOnly ? "rollback" : "commit";
    const { command } = await client.query(inTime(transaction, { text: end }));
    // If an earlier error in the transaction was caught and ignored, PostgreSQL responds to COMMIT with ROLLBACK.
    if (command !== end.toUpperCase())
      throw new Error("The transaction had failed and was rolled back");
  } catch (error) {
    broken = isLost(error) || isStalePlan(error) || !(await rolledBack(transaction));
    throw error;
  } finally {
    transaction.open = false;
    client.release(broken);
  }
  if (validateOnly) return result;
  for (const hook of transaction.hooks) {
    try {
      hook();
    } catch (error) {
      logger.error({ err: error }, "a hook after a commit failed");
    }
  }
  return result;
}

/**
 * Begins a transaction with at most two attempts: the first connection may have been lost while it was idle in the
 * pool. Repeating BEGIN is safe, because nothing has been changed yet.
 */
const begin = (pool: Pool, ceilingMs: number) =>
  withRetry({ attempts: 2, isRetryable: isLost }, async () => {
    const left = Math.min(remainingMs() ?? ceilingMs, ceilingMs);
    if (left <= 0) throw deadlineExceeded();
    const client = await pool.connect();
    try {
      const text = `begin; set local transaction_timeout = ${Math.ceil(left)}`;
      await client.query(answeredWithin(left, { text }));
      return { client, until: Date.now() + left };
    } catch (error) {
      client.release(true);
      throw error;
    }
  });

const inTime = ({ until }: OpenTransaction, query: QueryConfig): QueryConfig =>
  answeredWithin(Math.max(0, until - Date.now()), query);

async function rolledBack(transaction: OpenTransaction): Promise<boolean> {
  try {
    await transaction.client.query(inTime(transaction, { text: "rollback" }));
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates the interface that the ORM's driver needs from a transaction: it runs one statement that already contains its
 * values.
 */
function ormContext(transaction: OpenTransaction) {
  return {
    async executeQuery({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) {
      const client = clientOf(transaction);
      // The ORM writes values into its SQL, and a NUL would end the statement early.
      if (sql.includes("\0")) throw unstorableText();
      const send = () => client.query(sql, [...parameters]);
      const { command, rowCount, rows } = await (spansAreRecorded()
        ? traced(sql, false, send)
        : send());
      const changed = command !== "SELECT" && rowCount !== null;
      return { rows: rows ?? [], numAffectedRows: changed ? BigInt(rowCount) : undefined };
    },
  };
}

function clientOf(transaction: OpenTransaction): PoolClient {
  if (!transaction.open) throw new Error("The transaction is over; its work was not awaited");
  return transaction.client;
}

function transactionOf(em: EntityManager): OpenTransaction {
  const transaction = transactions.get(em);
  if (!transaction) throw new Error("This entity manager does not belong to a transaction");
  return transaction;
}

/** Runs SQL with `$1` placeholders in the transaction of `em`. The SQL does not see the ORM's unflushed changes. */
export async function queryIn<Row>(
  em: EntityManager,
  sql: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const transaction = transactionOf(em);
  const client = clientOf(transaction);
  const send = () => client.query(inTime(transaction, prepared(sql, params, transaction.named)));
  const { rows } = await (spansAreRecorded() ? traced(sql, true, send) : send());
  return rows;
}

/** Returns whether the query finds a row, in the transaction of `em`. */
export const existsIn = async (
  em: EntityManager,
  sql: string,
  params: readonly unknown[],
): Promise<boolean> => (await queryIn(em, sql, params)).length > 0;

/** Calls `hook` after the transaction of `em` has committed. The hook is not called after a rollback. */
export function afterCommit(em: EntityManager, hook: () => void): void {
  transactionOf(em).hooks.push(hook);
}
