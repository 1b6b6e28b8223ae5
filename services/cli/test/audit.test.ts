import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { service as access } from "@statehouse/access/service";
import { createAudit } from "@statehouse/audit";
import { chainWhenReady } from "@statehouse/audit/testing";
import { type Database, openDatabase } from "@statehouse/postgres";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { service as state } from "@statehouse/state/service";
import { newServiceKeys } from "@statehouse/testing";
import { service as workspaces } from "@statehouse/workspaces/service";
import { insertOrganization } from "@statehouse/workspaces/test/rows";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const services = [access, workspaces, state];
let folder: string;
let env: Record<string, string>;
let databases: Map<string, { fresh: FreshDatabase; database: Database }>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "statehouse-audit-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const keys = await newServiceKeys(...services.map(({ name }) => name));
  databases = new Map();
  env = {};
  for (const service of services) {
    const { name, migrations } = service;
    const schema = { contextName: name, migrations };
    const fresh = stack.use(await freshDatabase(schema));
    const logger = createLogger({ service: name, level: "silent" });
    const database = stack.use(
      await openDatabase({ ...schema, url: fresh.url, entities: [], logger }),
    );
    databases.set(name, { fresh, database });
    const settings = keys.settingsOf(name);
    env[`${name.toUpperCase()}_DATABASE_URL`] = fresh.url;
    env.ASSERTION_PUBLIC_KEYS = settings.ASSERTION_PUBLIC_KEYS;
    const audit = createAudit(database, name);
    for (const organization of ["org-1", "org-2"]) {
      for (let number = 0; number < 3; number++) {
        await audit.write({
          organization,
          action: `${name}.test`,
          resource: { type: name, id: `${organization}-${number}` },
        });
      }
    }
    const key = JSON.parse(settings.ASSERTION_PRIVATE_KEY);
    await chainWhenReady({ database, service: name, key, logger });
  }
});

const audit = (...args: string[]) => statehouse(["audit", ...args], env);
const sqlOf = (name: string) => {
  const found = databases.get(name);
  if (!found) throw new Error(name);
  return found.fresh.query;
};

/**
 * Writes the published heads of all services to a file, in the form in which a subscriber of the stream stores them.
 */
async function keptHeads(): Promise<string> {
  const file = path.join(folder, "heads.jsonl");
  const lines: string[] = [];
  for (const { name } of services) {
    const rows = await sqlOf(name)<{ message: string }>("select message from outbox order by id");
    lines.push(...rows.map(({ message }) => message));
  }
  await writeFile(file, `not a head\n${lines.join("\n")}\n`);
  return file;
}

test("verify compares all configured databases with their chains and the heads kept outside", async () => {
  expect(await audit("verify", "--heads", await keptHeads())).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /6 heads\naccess: 2 chains, 2 batches, 6 records\nworkspaces: .+\nstate: .+\nThe audit trail is unchanged\.\n$/,
    ),
  });
});

test("export writes the records of one organization from all services, oldest first", async () => {
  const { code, stdout } = await audit("export", "org-1");
  expect(code).toBe(0);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const exported = lines.pop();
  expect(lines.map(({ service, resourceId }) => `${service} ${resourceId}`)).toEqual(
    services.flatMap(({ name }) => [0, 1, 2].map((number) => `${name} org-1-${number}`)),
  );
  // The export itself is recorded before it begins.
  expect(exported).toMatchObject({ action: "audit-trail.export", actorType: "operator" });
  const later = await audit("export", "org-1", "--since", lines[8].time);
  const actions = later.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).action);
  expect(actions).toEqual(["audit-trail.export", "audit-trail.export"]);
});

test("exported records of one time are in the order of their ids, as in the API", async () => {
  for (const [name, { database }] of databases) {
    const audit = createAudit(database, name);
    for (const id of ["1", "2", "3"]) {
      const resource = { type: name, id };
      await audit.write({ organization: "org-3", action: `${name}.test`, resource });
    }
    await sqlOf(name)(
      "update audit_records set recorded_at = '2026-01-01T00:00:00Z' where organization = 'org-3'",
    );
  }
  const { stdout } = await audit("export", "org-3");
  const lines = stdout.trim().split("\n").slice(0, -1);
  const ids = lines.map((line): string => JSON.parse(line).id);
  expect(ids).toHaveLength(9);
  expect(ids).toEqual(ids.toSorted());
});

test("an organization is found by its id, also if another one has this id as its name", async () => {
  const sql = sqlOf("workspaces");
  await insertOrganization(sql, { id: "org-named", name: "org-1" });
  await insertOrganization(sql, { id: "org-1", name: "acme" });
  for (const organization of ["org-1", "Acme"]) {
    const { stdout } = await audit("export", organization);
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({ organization: "org-1" });
  }
  await sql("delete from organizations");
});

test("a verification is recorded in each database, with its outcome", async () => {
  const recorded = async (name: string) =>
    await sqlOf(name)<{ outcome: string; code: string | null }>(
      "select outcome, code from audit_records where action = 'command.audit.verify' order by recorded_at",
    );
  const [before, unaffected] = [await recorded("access"), await recorded("state")];
  await sqlOf("access")("update audit_records set code = 'edited' where resource_id = 'org-1-2'");
  expect((await audit("verify")).code).toBe(1);
  await sqlOf("access")("update audit_records set code = null where resource_id = 'org-1-2'");
  expect((await audit("verify")).code).toBe(0);
  const succeeded = { outcome: "succeeded", code: null };
  const failed = { outcome: "failed", code: "audit_trail_changed" };
  expect(await recorded("access")).toEqual([...before, failed, succeeded]);
  expect(await recorded("state")).toEqual([...unaffected, succeeded, succeeded]);
});

test("verify names an edited row and exits with 1; a recomputed chain differs from the heads", async () => {
  const heads = await keptHeads();
  const [{ id } = { id: "" }] = await sqlOf("state")<{ id: string }>(
    "update audit_records set actor_id = 'user-mallory' where resource_id = 'org-2-1' returning id",
  );
  expect(await audit("verify")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      `FOUND in state: Record ${id} in batch 1 of org-2 was edited.\n`,
    ),
  });
  await sqlOf("state")("update audit_records set batch = null, position = null");
  await sqlOf("state")("delete from audit_batches");
  expect(await audit("verify", "--heads", heads)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      "FOUND in state: Batch 1 of org-2 was sealed, but is missing.\n",
    ),
  });
});

test("errors are one sentence", async () => {
  expect((await audit("fly")).stderr).toContain("usage:");
  expect((await audit("verify", "--heads", "/dev/null")).stderr).toBe(
    "/dev/null contains no heads of the audit trail.\n",
  );
  expect((await audit("export", "acme")).stderr).toBe("There is no organization acme.\n");
  expect((await audit("export", "_", "--since", "yesterday")).stderr).toContain("--since must be");
});
