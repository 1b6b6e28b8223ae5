import path from "node:path";
import { startPostgres } from "@statehouse/local-services";
import { databaseOf } from "@statehouse/standalone/running-database";
import { temporaryFolder } from "@statehouse/testing";
import { Client } from "pg";
import { expect, test } from "vitest";
import { running, useNpmStart } from "./npm-start.ts";

const start = useNpmStart();

test("a data folder of a commit before version 0.1.0 is refused with the reason", async () => {
  await using folder = await temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  {
    await using postgres = await startPostgres({
      dataDirectory: path.join(dataDirectory, "postgres"),
    });
    await postgres.createDatabases(["statehouse_access"]);
    const database = new Client({ connectionString: postgres.url("statehouse_access") });
    await database.connect();
    await database.query(
      `create table schema_migrations (
         name text primary key,
         applied_at timestamptz not null default now()
       )`,
    );
    await database.query("insert into schema_migrations (name) values ('0001_init')");
    await database.end();
  }
  const started = start({ DATA_DIR: dataDirectory });
  expect(await started.exit).toBe(1);
  expect(started.output()).toContain(
    "The database of access was created by a commit of Statehouse before the release of version 0.1.0, whose data cannot be used: start with an empty database, or set DATA_DIR of npm start to another folder.\n",
  );
});

test("the services of npm start have no rights on each other's databases", async () => {
  await using folder = await temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  const started = start({ DATA_DIR: dataDirectory });
  await running(started);
  const database = new Client({ connectionString: databaseOf(dataDirectory, "workspaces") });
  await database.connect();
  try {
    const sessions = await database.query(
      `select distinct datname, usename from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid() order by datname`,
    );
    const names = ["statehouse_access", "statehouse_state", "statehouse_workspaces"];
    expect(sessions.rows).toEqual(names.map((name) => ({ datname: name, usename: name })));
    const rights = await database.query(
      `select rolname, rolsuper, rolcreatedb, rolcreaterole,
         has_database_privilege(rolname, current_database(), 'connect') as connects,
         has_database_privilege(rolname, 'postgres', 'connect') as administers,
         has_table_privilege(rolname, 'outbox', 'delete') as writes,
         has_schema_privilege(rolname, 'public', 'create') as creates
       from pg_roles where rolname = any($1) order by rolname`,
      [names],
    );
    const none = { rolsuper: false, rolcreatedb: false, rolcreaterole: false, administers: false };
    expect(rights.rows).toEqual(
      names.map((rolname) => {
        const own = rolname === "statehouse_workspaces";
        return { ...none, rolname, connects: own, writes: own, creates: false };
      }),
    );
  } finally {
    await database.end();
  }
  started.signal("SIGTERM");
  expect(await started.exit).toBe(0);
});
