import { createColumnCipher, openDatabase, rotateColumnKeys } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { entities } from "../nouns.ts";
import { sshKeyLocation } from "../ssh-key/domain.ts";
import { sealedSshKeys } from "../ssh-key/store.ts";
import { runWorkspaces } from "./running-workspaces.ts";

const ring = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`;

test("the private key is not in the database in clear, in responses or in events", async () => {
  proves("SSH keys/CRUD; the private key is never returned");
  await using running = await runWorkspaces();
  const owner = await running.person();
  const { name: organizationName } = await running.organization(owner);
  const value = "-----BEGIN nothing-anybody-may-hear-of-----";
  const { sshKey } = await running.sshKeys.createSshKey(
    { organizationName, name: "deploy", value },
    owner,
  );
  const id = sshKey?.id ?? "";
  expect(Object.keys(sshKey ?? {}).toSorted()).toEqual(["$typeName", "id", "name"]);
  const rows = await running.sql(
    "select k.*, to_jsonb(o)::text as outbox from ssh_keys k, outbox o",
  );
  expect(JSON.stringify(rows)).not.toContain("nothing-anybody-may-hear-of");
  const [row] = await running.sql<{ sealed_value: string }>("select sealed_value from ssh_keys");
  await running.sshKeys.updateSshKey({ id, name: "renamed" }, owner);
  const [renamed] = await running.sql<{ sealed_value: string }>(
    "select sealed_value from ssh_keys",
  );
  expect(renamed).toEqual(row);
  await running.sshKeys.updateSshKey({ id, value: "another" }, owner);
  const [changed] = await running.sql<{ sealed_value: string }>(
    "select sealed_value from ssh_keys",
  );
  expect(changed).not.toEqual(row);
});

test("key rotation encrypts values again with the new key, bound to their row", async () => {
  await using fresh = await freshDatabase({ contextName: "workspaces", migrations });
  const logger = createLogger({ service: "test", level: "silent" });
  await using database = await openDatabase({
    contextName: "workspaces",
    url: fresh.url,
    entities,
    migrations,
    logger,
  });
  const old = createColumnCipher({ keys: ring("old", 1) });
  const both = createColumnCipher({ keys: `${ring("new", 2)},${ring("old", 1)}` });
  await database.query("set session_replication_role = replica");
  await database.query("alter table ssh_keys drop constraint ssh_keys_organization_id_fkey");
  for (const number of [1, 2, 3]) {
    const id = `sshkey-${number}`;
    const cipher = number === 3 ? both : old;
    await database.query("insert into ssh_keys values ($1, 'org-1', 'key', $2, 1, now())", [
      id,
      cipher.encryptColumn(`value ${number}`, sshKeyLocation(id)),
    ]);
  }
  expect(await rotateColumnKeys(database, both, sealedSshKeys)).toBe(2);
  expect(await rotateColumnKeys(database, both, sealedSshKeys)).toBe(0);
  const fresher = createColumnCipher({ keys: ring("new", 2) });
  const rows = await database.query<{ id: string; encrypted: string }>(
    "select id, sealed_value as encrypted from ssh_keys order by id",
  );
  expect(
    rows.map(({ id, encrypted }) => fresher.decryptColumn(encrypted, sshKeyLocation(id))),
  ).toEqual(["value 1", "value 2", "value 3"]);
  expect(() =>
    fresher.decryptColumn(rows[0]?.encrypted ?? "", sshKeyLocation("sshkey-2")),
  ).toThrow();
});
