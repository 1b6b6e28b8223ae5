import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { proves } from "@statehouse/testing/proves";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { publishDueAutoDestroys } from "../auto-destroy/app.ts";
import { migrations } from "../migrations.ts";
import { entities, transactions } from "../nouns.ts";
import { reportRun } from "../run-report/app.ts";
import { applySummary } from "../state-summary/app.ts";
import { insertOrganization, insertProject, insertWorkspace } from "./rows.ts";

const HOUR = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const stack = new AsyncDisposableStack();
let client: Client;
let transaction: ReturnType<typeof transactions>;
let time = start;
let made = 0;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "workspaces", migrations }));
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  const logger = createLogger({ service: "test", level: "silent" });
  const database = stack.use(
    await openDatabase({ contextName: "workspaces", url, entities, migrations, logger }),
  );
  transaction = transactions(database);
  const sql = (text: string, values: unknown[] = []) => client.query(text, values);
  await insertOrganization(sql, { id: "org-1", name: "acme" });
  await insertProject(sql, { id: "prj-1", organizationId: "org-1", name: "networks" });
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  time = start;
  await client.query("delete from outbox");
  await client.query("delete from workspaces");
});

const app = () => ({ transaction, now: () => new Date(time) });

/**
 * Inserts a workspace whose destroy run is due the given number of hours after the start of the test, and returns its
 * id.
 */
async function workspace(hours: number, duration: string | null = null) {
  const id = `ws-${++made}` as const;
  const row = { id, organizationId: "org-1", projectId: "prj-1", name: id };
  const sql = (text: string, values: unknown[] = []) => client.query(text, values);
  await insertWorkspace(sql, { ...row, createdAt: start, latestChangeAt: null });
  await client.query(
    "update workspaces set auto_destroy_at = $2, auto_destroy_activity_duration = $3 where id = $1",
    [id, new Date(start + hours * HOUR), duration],
  );
  return id;
}

/** Returns when the workspace's destroy run is due, in hours after the start of the test; null if none is scheduled. */
async function dueIn(id: string): Promise<number | null> {
  const { rows } = await client.query(
    "select auto_destroy_at as at from workspaces where id = $1",
    [id],
  );
  return rows[0].at && (rows[0].at.getTime() - start) / HOUR;
}

const publishedSubjects = async (): Promise<string[]> =>
  (await client.query("select subject from outbox order by id")).rows.map(({ subject }) => subject);

test("a due destroy run is published, and a future one is not", async () => {
  proves("Workspace/auto-destroy-at");
  const [late, soon] = [await workspace(1), await workspace(2)];
  expect(await publishDueAutoDestroys(app())).toBe(0);
  time = start + HOUR;
  expect(await publishDueAutoDestroys(app())).toBe(1);
  expect(await publishedSubjects()).toEqual([late]);
  const { rows } = await client.query("select type, message from outbox");
  expect(rows[0].type).toBe("statehouse.workspaces.workspace.auto-destroy-due.v1");
  expect(JSON.parse(rows[0].message)).toMatchObject({
    workspaceId: late,
    organizationId: "org-1",
    projectId: "prj-1",
    dueAt: "2026-01-01T01:00:00Z",
  });
  expect([await dueIn(late), await dueIn(soon)]).toEqual([null, 2]);
  time = start + 2 * HOUR;
  await publishDueAutoDestroys(app());
  expect(await publishedSubjects()).toEqual([late, soon]);
});

test("concurrent replicas publish each due destroy run once", async () => {
  proves("Workspace/auto-destroy-at");
  const ids: string[] = [];
  for (let hour = 0; hour < 120; hour++) ids.push(await workspace(hour % 7));
  time = start + 10 * HOUR;
  const look = async (): Promise<void> => {
    while ((await publishDueAutoDestroys(app())) > 0);
  };
  await Promise.all(Array.from({ length: 5 }, look));
  await look();
  expect((await publishedSubjects()).toSorted()).toEqual(ids.toSorted());
});

const run = (workspaceId: `ws-${string}`, more: object = {}) =>
  reportRun(app(), {
    id: `run-${workspaceId.slice(3)}`,
    runner: "runner",
    workspaceId,
    revision: 1n,
    status: "applied",
    createdAt: new Date(start),
    planOnly: false,
    isDestroy: false,
    configurationVersionId: null,
    policyCheckFailed: false,
    planMs: null,
    applyMs: null,
    report: {},
    ...more,
  });

const state = (workspaceId: `ws-${string}`, revision: bigint, hours: number) =>
  applySummary(app(), workspaceId, {
    currentStateVersionId: "sv-1",
    resourceCount: 1,
    latestChangeAt: new Date(start + hours * HOUR),
    revision,
  });

test("a run postpones the schedule once, regardless of repeated reports; a destroy run does not", async () => {
  proves("Workspace/auto-destroy-activity-duration");
  const id = await workspace(5, "5h");
  time = start + HOUR;
  await run(id);
  expect(await dueIn(id)).toBe(6);
  time = start + 2 * HOUR;
  await run(id);
  await run(id, { revision: 2n, isDestroy: true });
  expect(await dueIn(id)).toBe(6);
});

test("a new state postpones the schedule, a repeated summary does not", async () => {
  const id = await workspace(24, "1d");
  time = start + HOUR;
  await state(id, 5n, 1);
  expect(await dueIn(id)).toBe(25);
  time = start + 2 * HOUR;
  await state(id, 4n, 2);
  await state(id, 6n, 1);
  expect(await dueIn(id)).toBe(25);
});

test("activity after the scheduled time starts a new schedule, and changes nothing without a duration", async () => {
  const [moving, fixed] = [await workspace(1, "3h"), await workspace(4)];
  time = start + HOUR;
  await publishDueAutoDestroys(app());
  expect(await dueIn(moving)).toBeNull();
  time = start + 2 * HOUR;
  await run(moving);
  await run(fixed);
  expect([await dueIn(moving), await dueIn(fixed)]).toEqual([5, 4]);
});
