import { metrics } from "@opentelemetry/api";
import { remainingMs, withClientSpan } from "@statehouse/runtime";
import { type CustomTypesConfig, type PoolClient, type QueryConfig, types } from "pg";

/** bigint: the values are counters, revisions and µs since 1970, all far below 2^53. */
const INT8 = 20;

/** For hand-written SQL: timestamps as `Date`, bigint as number, everything else as in pg. */
const resultTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 ? Number : types.getTypeParser(oid, format as "text"),
};

/**
 * With more than this number of texts, a statement is probably assembled from values; naming it would only leak
 * memory.
 */
const MAX_NAMED = 500;
const names = new Map<string, string>();

/** How much longer than the server's limit the client waits for a response. */
const SILENCE_MS = 1000;

/**
 * The query with a client-side time limit: the server enforces its limits, but a connection that fell silent would
 * otherwise never return to its pool. The connection is discarded.
 */
export const answeredWithin = (ms: number, query: QueryConfig): QueryConfig => ({
  ...query,
  // Part of the driver, but missing in its types.
  ...{ query_timeout: Math.ceil(ms) + SILENCE_MS },
});

/** A query whose plan PostgreSQL caches: the same text has the same name on every connection. */
export function prepared(sql: string, params: readonly unknown[]): QueryConfig {
  let name = names.get(sql);
  if (name === undefined && names.size < MAX_NAMED) {
    name = `s${names.size + 1}`;
    names.set(sql, name);
  }
  const query = { text: sql, values: params as unknown[], types: resultTypes };
  return name === undefined ? query : { ...query, name };
}

let statements = 0;
let awaited = 0;

/**
 * Number of statements that a caller waited for: sent by this process under a deadline, which relays and loops do not
 * have.
 */
export const awaitedStatementCount = (): number => awaited;

/** Number of statements that this process sent. */
export const statementCount = (): number => statements;

export type StatementListener = (sql: string) => void;

/** Counts and reports every statement that any code sends on this connection. */
export function observeStatements(client: PoolClient, listener?: StatementListener): void {
  const send: (...args: unknown[]) => unknown = client.query.bind(client);
  const observed = (...args: unknown[]): unknown => {
    statements++;
    if (remainingMs() !== undefined) awaited++;
    listener?.(textOf(args[0]));
    return send(...args);
  };
  Reflect.set(client, "query", observed);
}

/** Exposes the counter to Prometheus. */
export function exposeStatementCount(): void {
  metrics
    .getMeter("statehouse/postgres")
    .createObservableCounter("statehouse_sql_statements_total", {
      description: "SQL statements sent",
    })
    .addCallback((result) => result.observe(statements));
}

/**
 * A span around one statement. Only SQL with placeholders is recorded completely: the ORM writes values into its text,
 * which can be token hashes or sealed columns.
 */
export function traced<T>(sql: string, placeholders: boolean, run: () => Promise<T>): Promise<T> {
  const summary = summaryOf(sql);
  const attributes = {
    "db.system.name": "postgresql",
    "db.query.summary": summary,
    ...(placeholders ? { "db.query.text": sql } : {}),
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
