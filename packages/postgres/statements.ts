import { metrics } from "@opentelemetry/api";
import { remainingMs, withClientSpan } from "@statehouse/runtime";
import { type CustomTypesConfig, type PoolClient, type QueryConfig, types } from "pg";

/**
 * The type id of bigint. It is read as a number, because the values are counters, revisions and µs since 1970, all far
 * below 2^53.
 */
const INT8 = 20;

/** Result types of hand-written SQL: timestamps are `Date`, bigints are numbers, and all other types are as in pg. */
const resultTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 ? Number : types.getTypeParser(oid, format as "text"),
};

/**
 * Maximum number of named statements. A larger number means that SQL was probably assembled from values; further names
 * would only leak memory.
 */
const MAX_NAMED = 500;
const names = new Map<string, string>();

/** How much longer than the server's time limit the client waits for a response. */
const RESPONSE_TIMEOUT_MS = 1000;

/**
 * Returns the query with a client-side time limit. The server enforces its own limits, but a connection that stops
 * responding would otherwise never return to its pool. After the limit the connection is discarded.
 */
export const withClientTimeout = (ms: number, query: QueryConfig): QueryConfig => ({
  ...query,
  // `query_timeout` is part of the driver but missing from its types.
  ...{ query_timeout: Math.ceil(ms) + RESPONSE_TIMEOUT_MS },
});

/**
 * Returns a query whose plan PostgreSQL caches: the same SQL has the same statement name on every connection. Without
 * `named` the plan is not cached.
 */
export function prepared(sql: string, params: readonly unknown[], named: boolean): QueryConfig {
  const query = { text: sql, values: params as unknown[], types: resultTypes };
  if (!named) return query;
  let name = names.get(sql);
  if (name === undefined && names.size < MAX_NAMED) {
    name = `s${names.size + 1}`;
    names.set(sql, name);
  }
  return name === undefined ? query : { ...query, name };
}

let statements = 0;
let awaited = 0;

/**
 * Returns the number of statements that a caller waited for: those sent under a deadline. The relay and background
 * loops have no deadline.
 */
export const awaitedStatementCount = (): number => awaited;

export type StatementListener = (sql: string) => void;

/**
 * A function that is called before a statement is sent to the database of a service. It returns a function, which is
 * called when the response has arrived.
 */
export type StatementWatcher = (
  service: string,
  sql: string,
  client: PoolClient,
) => (() => void) | undefined;

let watcher: StatementWatcher | undefined;

/**
 * Watches every statement of this process, for tests that count the statements for which a request waits. A call
 * without a watcher ends the watch.
 */
export function watchStatements(watch: StatementWatcher | undefined): void {
  watcher = watch;
}

/** Counts every statement on this connection and passes it to `listener`, regardless of the code that sends it. */
export function observeStatements(
  client: PoolClient,
  service: string,
  listener?: StatementListener,
): void {
  const send: (...args: unknown[]) => unknown = client.query.bind(client);
  const observed = (...args: unknown[]): unknown => {
    statements++;
    if (remainingMs() !== undefined) awaited++;
    listener?.(textOf(args[0]));
    const answered = watcher?.(service, textOf(args[0]), client);
    return answered ? callingAfter(send, args, answered) : send(...args);
  };
  Reflect.set(client, "query", observed);
}

/**
 * Sends a statement whose response arrives through a promise or a callback. Calls `answered` before the sender receives
 * the response.
 */
function callingAfter(
  send: (...args: unknown[]) => unknown,
  args: readonly unknown[],
  answered: () => void,
): unknown {
  const callback = args.at(-1);
  if (typeof callback !== "function") {
    const response = send(...args);
    if (response instanceof Promise) response.then(answered, answered);
    return response;
  }
  return send(...args.slice(0, -1), (...response: unknown[]) => {
    answered();
    callback(...response);
  });
}

/** Exposes the number of statements to Prometheus. */
export function exposeStatementCount(): void {
  metrics
    .getMeter("statehouse/postgres")
    .createObservableCounter("statehouse_sql_statements_total", {
      description: "SQL statements sent",
    })
    .addCallback((result) => result.observe(statements));
}

/** Runs a statement in a span, which records the SQL. Its values must be parameters: they can be hashes of tokens. */
export function traced<T>(sql: string, run: () => Promise<T>): Promise<T> {
  const summary = summaryOf(sql);
  const attributes = {
    "db.system.name": "postgresql",
    "db.query.summary": summary,
    "db.query.text": sql,
  };
  return withClientSpan(summary, attributes, run);
}

function summaryOf(sql: string): string {
  const verb = /^\s*(?:--[^\n]*\n\s*)*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? "SQL";
  const table = /\b(?:from|into|update)\s+"?(\w+)/i.exec(sql)?.[1];
  return table ? `${verb} ${table}` : verb;
}

function textOf(query: unknown): string {
  if (typeof query === "string") return query;
  const text: unknown = query instanceof Object ? Reflect.get(query, "text") : undefined;
  return typeof text === "string" ? text : "";
}
