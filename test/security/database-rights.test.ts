import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { childEnvironment, sharedDependencies } from "@statehouse/testing";
import { Client } from "pg";
import { expect, test } from "vitest";
import { type DatabaseName, type Stack, startStack } from "../stack/stack.ts";
import { populate } from "../system/fixture.ts";
import { smoke } from "../system/smoke.ts";

const names: readonly DatabaseName[] = ["access", "workspaces", "state"];

const urlOf = (database: string, user: string): string => {
  const url = new URL(sharedDependencies().postgres.url);
  url.pathname = `/${database}`;
  url.username = user;
  url.password = user;
  return url.href;
};

async function query<Row extends object>(
  url: string,
  statement: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement, [...params])).rows;
  } finally {
    await client.end();
  }
}

const asAdministrator = (statement: string) => query(sharedDependencies().postgres.url, statement);

/**
 * Creates a database and runs the migrate command on it as the role `owner`; returns the database's URL for the role
 * `user`.
 */
async function migratedDatabase(name: DatabaseName, owner: string, user: string) {
  const database = `${name}_${randomBytes(6).toString("hex")}`;
  await asAdministrator(`create database ${database} owner ${owner}`);
  const url = urlOf(database, user);
  await promisify(execFile)(process.execPath, [sharedDependencies().program, "migrate", name], {
    env: childEnvironment({ DATABASE_URL: url, MIGRATE_DATABASE_URL: urlOf(database, owner) }),
  });
  return {
    url,
    [Symbol.asyncDispose]: async () =>
      void (await asAdministrator(`drop database ${database} with (force)`)),
  };
}

test("a running service needs no right to change its schema, and has none", async () => {
  await using stack = new AsyncDisposableStack();
  const suffix = randomBytes(6).toString("hex");
  const [owner, user] = [`owner_${suffix}`, `user_${suffix}`];
  stack.defer(async () => void (await asAdministrator(`drop role if exists ${user}, ${owner}`)));
  for (const role of [owner, user]) {
    await asAdministrator(`create role ${role} login password '${role}'`);
  }
  const databases = {
    access: stack.use(await migratedDatabase("access", owner, user)),
    workspaces: stack.use(await migratedDatabase("workspaces", owner, user)),
    state: stack.use(await migratedDatabase("state", owner, user)),
  };
  const running = stack.use(await startStack({ databaseUrl: (service) => databases[service].url }));
  const rows: Stack["rows"] = (name, sql, params) => query(databases[name].url, sql, params);
  await smoke(await populate(Object.assign(running, { rows })));

  for (const name of names) {
    for (const statement of [
      "create table mine ()",
      "alter table outbox add column mine text",
      "drop table outbox",
      "truncate outbox",
      "insert into schema_migrations (name) values ('9999_mine')",
      "delete from schema_migrations",
    ]) {
      await expect(query(databases[name].url, statement), statement).rejects.toMatchObject({
        code: "42501",
      });
    }
  }
});
