import { deadlineExceeded } from "@statehouse/errors";
import { type Logger, remainingMs, spansAreRecorded, withRetry } from "@statehouse/runtime";
import type { Pool, PoolClient, QueryConfig, QueryResult } from "pg";
import { asAppError, isLost, isRefused, isRetryable, isStalePlan } from "./failures.ts";
import { prepared, traced, withClientTimeout } from "./statements.ts";
import { type EntityManager, markWritten, pendingChanges, writingParts } from "./unit-of-work.ts";

interface OpenTransaction {
  options: TransactionOptions;
  em: EntityManager;
  /** Whether rows were saved whose changes have not been sent. */
  unsent: boolean;
  /** The connection, once the first statement has begun the transaction. */
  begun: Promise<Begun> | undefined;
  state: "open" | "ending" | "over";
  /** Rows that are inserted with the commit. */
  inserts: Map<InsertAtCommit, object[]>;
  hooks: (() => void)[];
}

interface Begun {
  client: PoolClient;
  /** When the server ends the transaction, in ms since 1970. */
  until: number;
  /** The responses to the first statements. */
  first: readonly Response[];
}

type Response = PromiseSettledResult<QueryResult>;

/** Returns the SQL that inserts a JSON array of rows; `rows` is the array's placeholder (`$1`). */
export type InsertAtCommit = (rows: string) => string;

/** The last statement of a transaction. It also writes all rows whose changes have not been sent. */
export interface LastStatement {
  /** Rows of the unit of work that `select` reads as they are after the change, each under this name. */
  rows?: Readonly<Record<string, object>>;
  /** An insert, update or delete. `select` reads the rows that it returns as `changed`. */
  change?: string;
  /** A select from `rows` and `changed`. It sees all other rows as they were before the statement. */
  select: string;
}

/** A statement with `$1` placeholders. */
export interface Statement {
  sql: string;
  params: readonly unknown[];
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
 * Runs `work` in a transaction on a connection of the pool instead of a transaction of the ORM. The ORM's driver never
 * returns a connection to its pool if BEGIN or ROLLBACK failed on it, so each restart of PostgreSQL would shrink the
 * pool. A separate connection also allows BEGIN and the time limit to be sent in one message. After a deadlock or a
 * serialization failure everything is repeated, so `work` must not change anything except through `em`.
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
  options: TransactionOptions,
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  const em = options.fork();
  const transaction: OpenTransaction = {
    options,
    em,
    unsent: false,
    begun: undefined,
    state: "open",
    inserts: new Map(),
    hooks: [],
  };
  transactions.set(em, transaction);
  let broken = false;
  let result: T;
  try {
    result = await work(em);
    if (transaction.state === "open") {
      await end(transaction);
    }
  } catch (error) {
    const unusable = isLost(error) || isRefused(error) || isStalePlan(error);
    broken = unusable || !(await rolledBack(transaction));
    throw error;
  } finally {
    transaction.state = "over";
    (await connectionOf(transaction))?.client.release(broken);
  }
  if (options.validateOnly) return result;
  for (const hook of transaction.hooks) {
    try {
      hook();
    } catch (error) {
      options.logger.error({ err: error }, "a hook after a commit failed");
    }
  }
  return result;
}

/** Matches statements that change nothing. */
const SELECT = /^(?:\s*--[^\n]*\n)*\s*select\b/i;

/**
 * Begins a transaction with its first statements. SELECTs are sent together with BEGIN. Any other statement is sent
 * after the response to BEGIN: if BEGIN failed, the statement would take effect outside a transaction. There are at
 * most two attempts: the first connection can have been lost while it was idle in the pool. Repeating is safe, because
 * nothing is committed.
 */
const begin = (
  { pool, ceilingMs }: TransactionOptions,
  first: readonly QueryConfig[],
): Promise<Begun> =>
  withRetry({ attempts: 2, isRetryable: isLost }, async () => {
    const left = Math.min(remainingMs() ?? ceilingMs, ceilingMs);
    if (left <= 0) throw deadlineExceeded();
    const client = await pool.connect();
    try {
      const until = Date.now() + left;
      const text = `begin; set local transaction_timeout = ${Math.ceil(left)}`;
      if (first.every((query) => SELECT.test(query.text))) {
        const [begun, ...responses] = await together(client, left, [{ text }, ...first]);
        resultOf(begun);
        return { client, until, first: responses.map(unlessLost) };
      }
      await client.query(withClientTimeout(left, { text }));
      const responses = await together(client, left, first);
      return { client, until, first: responses.map(unlessLost) };
    } catch (error) {
      client.release(true);
      throw error;
    }
  });

/** Sends statements together, and returns their responses after one round trip. */
async function together<Queries extends readonly QueryConfig[]>(
  client: PoolClient,
  left: number,
  queries: readonly [...Queries],
): Promise<{ -readonly [Index in keyof Queries]: Response }> {
  const { stream } = client.connection;
  stream.cork();
  const responses = queries.map((query) => client.query(withClientTimeout(left, query)));
  stream.uncork();
  return Promise.allSettled(responses) as Promise<{ [Index in keyof Queries]: Response }>;
}

function resultOf(response: Response): QueryResult {
  if (response.status === "rejected") throw response.reason;
  return response.value;
}

function unlessLost(response: Response): Response {
  if (response.status === "rejected" && isLost(response.reason)) throw response.reason;
  return response;
}

/**
 * Sends statements of the transaction together, after the changes of saved rows. If the transaction has not begun, they
 * begin it. Throws the error of the first statement that failed.
 */
async function sendIn(
  transaction: OpenTransaction,
  ...queries: readonly QueryConfig[]
): Promise<QueryResult[]> {
  requireOpen(transaction);
  const changes = unsentChanges(transaction);
  if (!changes) return sendTogether(transaction, queries);
  const [, ...results] = await sendTogether(transaction, [changes, ...queries]);
  return results;
}

/** Returns the statement that writes the changes of saved rows; undefined if there are none. */
function unsentChanges(transaction: OpenTransaction): QueryConfig | undefined {
  if (!transaction.unsent) return undefined;
  transaction.unsent = false;
  const { em, options } = transaction;
  const pending = pendingChanges(em);
  if (pending.length === 0) return undefined;
  const params: unknown[] = [];
  const { others } = writingParts(em, pending, {}, params);
  markWritten(em, pending);
  const parts = others.map((part, index) => `written_${index} as (${part})`);
  return prepared(`with ${parts.join(", ")} select`, params, options.named);
}

async function sendTogether(
  transaction: OpenTransaction,
  queries: readonly QueryConfig[],
): Promise<QueryResult[]> {
  if (!transaction.begun) {
    transaction.begun = begin(transaction.options, queries);
    return (await transaction.begun).first.map(resultOf);
  }
  const { client, until } = await transaction.begun;
  requireOpen(transaction);
  return (await together(client, timeUntil(until), queries)).map(resultOf);
}

async function sendOneIn(transaction: OpenTransaction, query: QueryConfig): Promise<QueryResult> {
  const [result] = await sendIn(transaction, query);
  if (!result) throw new Error("A statement has no response");
  return result;
}

const timeUntil = (until: number): number => Math.max(0, until - Date.now());

function requireOpen({ state }: OpenTransaction): void {
  if (state !== "open") {
    throw new Error(
      "The transaction is over: this call came after `commitWith`, or the transaction's work did not await it",
    );
  }
}

/**
 * Ends the transaction. One statement contains the last statement, the changes of rows and the inserts requested with
 * `insertAtCommit`. It is sent together with COMMIT. Returns the rows of the last statement.
 */
async function end(
  transaction: OpenTransaction,
  last?: LastStatement,
  params: readonly unknown[] = [],
): Promise<unknown[]> {
  const { validateOnly = false } = transaction.options;
  const statement = lastQuery(transaction, last, params);
  if (!transaction.begun) {
    if (!statement) return [];
    // This statement begins the transaction.
    const { rows } = await sendOneIn(transaction, statement);
    await endAfter(transaction, validateOnly);
    return rows;
  }
  return endAfter(transaction, validateOnly, statement);
}

async function endAfter(
  transaction: OpenTransaction,
  validateOnly: boolean,
  statement?: QueryConfig,
): Promise<unknown[]> {
  const connection = await connectionOf(transaction);
  if (!connection) throw new Error("The transaction has not begun");
  const { client, until } = connection;
  transaction.state = "ending";
  const text = validateOnly ? "rollback" : "commit";
  const left = timeUntil(until);
  const { ended, done } = await traceIf(statement, async () => {
    if (!statement) return { ended: (await together(client, left, [{ text }]))[0] };
    const [done, ended] = await together(client, left, [statement, { text }]);
    return { done, ended };
  });
  const rows = done ? resultOf(done).rows : [];
  // If an earlier error in the transaction was caught and ignored, PostgreSQL responds to COMMIT with ROLLBACK.
  if (resultOf(ended).command !== text.toUpperCase())
    throw new Error("The transaction had failed and was rolled back");
  return rows;
}

/**
 * Returns one statement that runs `last`, writes the changes of rows and inserts the rows that were passed to
 * `insertAtCommit`; undefined if there is nothing to do.
 */
function lastQuery(
  transaction: OpenTransaction,
  last: LastStatement | undefined,
  params: readonly unknown[],
): QueryConfig | undefined {
  const { em, inserts, options } = transaction;
  const values = [...params];
  const pending = pendingChanges(em);
  const { named, others } = writingParts(em, pending, last?.rows ?? {}, values);
  markWritten(em, pending);
  transaction.unsent = false;
  const parts = [...named].map(([name, part]) => `${name} as (${part})`);
  if (last?.change !== undefined) parts.push(`changed as (${last.change})`);
  for (const part of others) parts.push(`written_${parts.length} as (${part})`);
  for (const [insert, rows] of options.validateOnly ? [] : inserts) {
    values.push(JSON.stringify(rows));
    parts.push(`inserted_${parts.length} as (${insert(`$${values.length}`)})`);
  }
  if (parts.length === 0) return undefined;
  return prepared(`with ${parts.join(", ")} ${last?.select ?? "select"}`, values, options.named);
}

const connectionOf = async ({ begun }: OpenTransaction): Promise<Begun | undefined> =>
  begun?.catch(() => undefined);

const traceIf = <T>(statement: QueryConfig | undefined, send: () => Promise<T>): Promise<T> =>
  statement && spansAreRecorded() ? traced(statement.text, send) : send();

async function rolledBack(transaction: OpenTransaction): Promise<boolean> {
  const connection = await connectionOf(transaction);
  if (!connection) return true;
  try {
    const { client, until } = connection;
    await client.query(withClientTimeout(timeUntil(until), { text: "rollback" }));
    return true;
  } catch {
    return false;
  }
}

function transactionOf(em: EntityManager): OpenTransaction {
  const transaction = transactions.get(em);
  if (!transaction) throw new Error("This entity manager does not belong to a transaction");
  return transaction;
}

/** Runs SQL with `$1` placeholders in the transaction of `em`. The SQL sees the changes of saved rows. */
export async function queryIn<Row>(
  em: EntityManager,
  sql: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const transaction = transactionOf(em);
  const send = () => sendOneIn(transaction, prepared(sql, params, transaction.options.named));
  const { rows } = await (spansAreRecorded() ? traced(sql, send) : send());
  return rows;
}

/**
 * Runs two statements like `queryIn`, in this order and in one round trip. If the first statement waited for the lock
 * of a row, the second one sees what was committed in the meantime.
 */
export async function queryBothIn<First, Second>(
  em: EntityManager,
  first: Statement,
  second: Statement,
): Promise<[First[], Second[]]> {
  const transaction = transactionOf(em);
  const { named } = transaction.options;
  const queries = [first, second].map(({ sql, params }) => prepared(sql, params, named));
  const send = () => sendIn(transaction, ...queries);
  const text = `${first.sql};\n${second.sql}`;
  const [one, other] = await (spansAreRecorded() ? traced(text, send) : send());
  return [one?.rows ?? [], other?.rows ?? []];
}

/** Returns whether the query finds a row, in the transaction of `em`. */
export const existsIn = async (
  em: EntityManager,
  sql: string,
  params: readonly unknown[],
): Promise<boolean> => (await queryIn(em, sql, params)).length > 0;

/** Runs the last statement of a transaction and commits: both are sent together, in one round trip. */
export const commitWith = async <Row>(
  em: EntityManager,
  last: LastStatement,
  params: readonly unknown[] = [],
): Promise<Row[]> => (await end(transactionOf(em), last, params)) as Row[];

/** Sends the changes of all rows of the transaction of `em` with its next statement. */
export function sendChanges(em: EntityManager): void {
  const transaction = transactionOf(em);
  requireOpen(transaction);
  transaction.unsent = true;
}

/**
 * Inserts `row` at the end of the transaction of `em`, with one statement for all rows that are passed with the same
 * `insert`, in their order.
 */
export function insertAtCommit(em: EntityManager, insert: InsertAtCommit, row: object): void {
  const transaction = transactionOf(em);
  requireOpen(transaction);
  const { inserts } = transaction;
  const rows = inserts.get(insert);
  if (rows) rows.push(row);
  else inserts.set(insert, [row]);
}

/** Calls `hook` after the transaction of `em` has committed. The hook is not called after a rollback. */
export function afterCommit(em: EntityManager, hook: () => void): void {
  const transaction = transactionOf(em);
  requireOpen(transaction);
  transaction.hooks.push(hook);
}
