import { freshDatabase } from "@statehouse/postgres/testing";
import { Client } from "pg";
import { startChild } from "../child.ts";

/** A resource object from a response of Statehouse. The bare handler returns objects of the same size and shape. */
export interface Template {
  id: string;
  type: string;
  attributes: Record<string, unknown>;
}

export interface BareQuestion {
  databaseUrl: string;
  template: Template;
  /** Whether statements have names, so that PostgreSQL caches their plans. */
  prepared: boolean;
}

/**
 * The baseline: a Koa handler in a separate process that runs two indexed SELECTs for each request, on the PostgreSQL
 * server of the product.
 */
export interface BareHandler extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
  readonly headers: Record<string, string>;
  /** Paths of the resources that the handler returns. */
  readonly paths: readonly string[];
}

const TOKEN = `sth_${"b".repeat(43)}`;
const ROWS = 10_000;

/** The tables of the bare handler and of the floor server, with their rows. */
export const schema = `
  create table tokens (token text primary key, user_id text not null);
  create table workspaces (
    id text primary key, name text not null, description text, locked boolean not null,
    created_at timestamptz not null, updated_at timestamptz not null
  );
  insert into tokens select 'sth_' || n, 'user-' || n from generate_series(1, ${ROWS}) n;
  insert into tokens values ('${TOKEN}', 'user-1');
  insert into workspaces
    select 'ws-' || lpad(n::text, 16, '0'), 'name-' || n, 'A workspace', false, now(), now()
    from generate_series(1, ${ROWS}) n;
`;

/**
 * Starts the bare handler on a database with as many rows as the product's database. The handler's responses have the
 * shape of `template`.
 */
export async function startBareHandler({
  template,
  paths,
  prepared = false,
}: {
  template: Template;
  paths: number;
  prepared?: boolean;
}): Promise<BareHandler> {
  await using starting = new AsyncDisposableStack();
  const database = starting.use(
    await freshDatabase({
      contextName: "bare",
      migrations: [{ name: "0001_init", up: schema }],
    }),
  );
  await analyze(database.url);
  const child = starting.use(
    startChild<BareQuestion, number>(new URL("./handler.ts", import.meta.url)),
  );
  const port = await child.ask({ databaseUrl: database.url, template, prepared });
  const started = starting.move();
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid,
    headers: { authorization: `Bearer ${TOKEN}` },
    paths: Array.from(
      { length: paths },
      (_, index) => `/workspaces/ws-${String(index + 1).padStart(16, "0")}`,
    ),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Runs VACUUM ANALYZE, because new tables have no statistics before the first autovacuum. */
export async function analyze(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}
