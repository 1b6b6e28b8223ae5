import { Client } from "pg";
import type { Stack } from "./stack.ts";

type Databases = Stack["databases"];
type Row = Record<string, unknown>;

/** Rows by table, for example "workspaces.tag_bindings". */
export type Rows = Record<string, Row[]>;

/**
 * Returns every row of all databases that contains one of the texts in any column. The tables are read from the
 * databases' catalogs, so new tables are included. The tables of the audit trail are left out, because its records
 * remain.
 */
export async function rowsWith(databases: Databases, texts: readonly string[]): Promise<Rows> {
  const found: Rows = {};
  for (const [name, url] of Object.entries(databases)) {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      for (const table of await tablesOf(client)) {
        const { rows } = await client.query(
          `select to_jsonb(t) as row from ${table} t
           where exists (select from unnest($1::text[]) text where strpos(to_jsonb(t)::text, text) > 0)`,
          [texts],
        );
        if (rows.length > 0) found[`${name}.${table}`] = rows.map(({ row }) => row);
      }
    } finally {
      await client.end();
    }
  }
  return found;
}

async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format(case when table_schema = 'public' then '%2$I' else '%I.%I' end,
       table_schema, table_name) as name
     from information_schema.tables
     where table_type = 'BASE TABLE' and table_name not like 'audit\\_%'
       and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Returns the id of an object and the ids of its dependents: of the rows that contain its id, of the rows that contain
 * the ids of those rows, and so on.
 */
export async function idsBelow(databases: Databases, id: string): Promise<string[]> {
  const known = new Set([id]);
  for (let size = 0; size < known.size; ) {
    size = known.size;
    const rows = Object.values(await rowsWith(databases, [...known])).flat();
    // The outbox numbers its rows; such a number is not the id of an object.
    for (const { id } of rows) if (typeof id === "string") known.add(id);
  }
  return [...known];
}

/**
 * Returns the values of a row that are neither empty nor numbers. Numbers are omitted, because they are only version
 * counters.
 */
export const saying = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value && typeof value !== "number"));
