import type { FreshDatabase } from "./fresh-database.ts";

/** Makes statements of new connections to the database read `version` as the version of the server. */
export async function setServerVersion(
  { name, query }: FreshDatabase,
  version: string,
): Promise<void> {
  await query(`create function public.current_setting(name text) returns text language sql as $$
    select case name when 'server_version' then '${version}' else pg_catalog.current_setting(name) end $$`);
  await query(`alter database ${name} set search_path = public, pg_catalog`);
}
