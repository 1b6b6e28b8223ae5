import { defineEntity, p } from "@mikro-orm/core";
import { conflict, notFound } from "@statehouse/errors";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import { createLogger, runWithDeadline } from "@statehouse/runtime";
import { ownPostgres, startFaultProxy, waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../database.ts";
import { uniqueViolation } from "../failures.ts";
import { migrate } from "../migrations.ts";
import { createTransactions } from "../nouns.ts";
import { loadBoth, recordsOf, selectRows } from "../records.ts";
import {
  afterCommit,
  commitWith,
  type InsertAtCommit,
  insertAtCommit,
  queryIn,
} from "../transaction.ts";
import type { EntityManager } from "../unit-of-work.ts";

class Cup {
  id = "";
  name = "";
  epoch = 0;
}

const CupSchema = defineEntity({
  class: Cup,
  tableName: "cups",
  properties: { id: p.string().primary(), name: p.string(), epoch: p.bigint("number") },
});

const migrations = [
  {
    name: "0001_cups",
    up: `create table cups (
      id text primary key,
      name text not null constraint cups_name unique,
      epoch bigint not null,
      made_at timestamptz not null default now()
    )`,
  },
];

const logger = createLogger({ service: "test", level: "silent" });
const statements: string[] = [];
let fresh: FreshDatabase;
let database: Database;

const open = (
  url: string,
  { contextName = "cups", ...more }: { contextName?: string; idleTransactionMs?: number } = {},
) =>
  openDatabase({
    contextName,
    url,
    entities: [CupSchema],
    migrations,
    poolSize: 4,
    logger,
    onStatement: (sql) => statements.push(sql),
    ...more,
  });

const newCup = (id: string, name = id): Cup => Object.assign(new Cup(), { id, name, epoch: 1 });

const cupsOf = (em: EntityManager) => recordsOf(em, CupSchema, () => notFound("cup"));

const addCup = (id: string, target = database) =>
  target.transaction(async (em) => cupsOf(em).save(newCup(id)));

beforeAll(async () => {
  fresh = await freshDatabase({ contextName: "cups", migrations });
  database = await open(fresh.url);
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await fresh[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await database.query("truncate cups");
  statements.length = 0;
});

describe("a query", () => {
  test("is one statement and returns timestamps as dates and bigint as numbers", async () => {
    await addCup("a");
    statements.length = 0;
    const rows = await database.query<{ epoch: number; made_at: Date }>(
      "select epoch, made_at, count(*) over () as total from cups where id = $1",
      ["a"],
    );
    expect(rows).toEqual([{ epoch: 1, made_at: expect.any(Date), total: 1 }]);
    expect(statements).toHaveLength(1);
  });

  test("still works after a migration that changes the result of a prepared statement", async () => {
    await addCup("a");
    const all = () => database.query<{ colour: string }>("select * from cups where id = $1", ["a"]);
    for (let i = 0; i < 8; i++) await all();
    await database.query("alter table cups add column colour text default 'red'");
    expect((await all())[0]?.colour).toBe("red");
    await database.query("alter table cups drop column colour");
  });
});

describe("a transaction", () => {
  test("sends BEGIN and the caller's time limit in one message, flushes and commits", async () => {
    await runWithDeadline(Date.now() + 5000, () => addCup("a"));
    expect(statements).toEqual([
      expect.stringMatching(/^begin; set local transaction_timeout = \d{4}$/),
      expect.stringMatching(/^with written_0 as \(insert into cups /),
      "commit",
    ]);
  });

  const insertCups: InsertAtCommit = (rows) =>
    `insert into cups (id, name, epoch)
     select * from jsonb_to_recordset(${rows}::jsonb) as r (id text, name text, epoch bigint)`;
  const cup = (id: string) => ({ id, name: id, epoch: "1" });
  const ids = async () =>
    (await database.query<{ id: string }>("select id from cups order by id")).map(({ id }) => id);

  test("without a statement does not use the database", async () => {
    expect(await database.transaction(async () => "done")).toBe("done");
    expect(statements).toEqual([]);
  });

  test("inserts rows and commits with its last statement", async () => {
    await addCup("a");
    statements.length = 0;
    const rows = await database.transaction(async (em) => {
      await queryIn(em, "select from cups where id = $1 for update", ["a"]);
      insertAtCommit(em, insertCups, cup("b"));
      insertAtCommit(em, insertCups, cup("c"));
      const change = "update cups set epoch = $2 where id = $1 returning *";
      return commitWith(em, { change, select: "select epoch from changed" }, ["a", 7]);
    });
    expect(rows).toEqual([{ epoch: 7 }]);
    expect(statements).toEqual([
      expect.stringMatching(/^begin/),
      expect.stringMatching(/^select from cups/),
      expect.stringMatching(/^with changed as \(update cups .* select epoch from changed$/s),
      "commit",
    ]);
    expect(await ids()).toEqual(["a", "b", "c"]);
  });

  test("commits nothing if the rows of its commit cannot be inserted", async () => {
    await addCup("a");
    const failing = database.transaction(async (em) => {
      await queryIn(em, "update cups set epoch = 9 where id = $1", ["a"]);
      insertAtCommit(em, insertCups, cup("a"));
    });
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    expect(await database.query("select epoch from cups")).toEqual([{ epoch: 1 }]);
  });

  test.each<[string, (em: EntityManager) => unknown]>([
    ["statements", (em) => queryIn(em, "select 1")],
    ["rows of its commit", (em) => insertAtCommit(em, insertCups, cup("a"))],
    ["hooks", (em) => afterCommit(em, () => {})],
  ])("refuses %s after its last statement", async (_, act) => {
    const late = database.transaction(async (em) => {
      await commitWith(
        em,
        { change: "delete from cups returning id", select: "select id from changed" },
        [],
      );
      await act(em);
    });
    await expect(late).rejects.toThrow("The transaction is over");
  });

  test("validates its last statement without changing anything", async () => {
    await addCup("a");
    const change = "delete from cups returning id";
    const rows = await database.transaction(
      (em) => commitWith(em, { change, select: "select id from changed" }, []),
      { validateOnly: true },
    );
    expect(rows).toEqual([{ id: "a" }]);
    expect(await ids()).toEqual(["a"]);
  });

  test("sees its own SQL and the saved changes on the same connection", async () => {
    await addCup("a");
    await database.transaction(async (em) => {
      const cups = cupsOf(em);
      const cup = await cups.getForUpdate("a");
      cup.epoch = 1_763_683_200_000_000;
      cups.save(cup);
      const sql = "select epoch from cups where id = $1";
      expect(await queryIn(em, sql, ["a"])).toEqual([{ epoch: 1_763_683_200_000_000 }]);
      expect(await database.query(sql, ["a"])).toEqual([{ epoch: 1 }]);
    });
  });

  test("rolls back and rethrows on an error; hooks run only after a commit", async () => {
    let hooks = 0;
    const failing = database.transaction(async (em) => {
      afterCommit(em, () => hooks++);
      cupsOf(em).save(newCup("a"));
      await queryIn(em, "select from cups");
      throw conflict("locked", "The workspace is locked.");
    });
    await expect(failing).rejects.toMatchObject({ kind: "conflict", reason: "locked" });
    expect(hooks).toBe(0);
    expect(await database.query("select from cups")).toHaveLength(0);
    await database.transaction(async (em) => afterCommit(em, () => hooks++));
    expect(hooks).toBe(1);
  });

  test("with validateOnly returns its result, rolls back and runs no hook", async () => {
    let hooks = 0;
    const result = await database.transaction(
      async (em) => {
        afterCommit(em, () => hooks++);
        cupsOf(em).save(newCup("a"));
        return "valid";
      },
      { validateOnly: true },
    );
    expect(result).toBe("valid");
    expect(hooks).toBe(0);
    expect(await database.query("select from cups")).toHaveLength(0);
  });

  test("throws if an error inside it was swallowed", async () => {
    const swallowed = database.transaction(async (em) => {
      await queryIn(em, "select 1/0").catch(() => {});
    });
    await expect(swallowed).rejects.toThrow("rolled back");
  });

  test("reports the constraint that was violated", async () => {
    await addCup("a");
    const failing = database.transaction(async (em) => {
      cupsOf(em).save(newCup("b", "a"));
    });
    const error: unknown = await failing.catch((cause: unknown) => cause);
    expect(uniqueViolation(error, "cups_name")).toBe(true);
    expect(uniqueViolation(error, "cups_pkey")).toBe(false);
  });

  test("throws the error of the constraint that a written row violates", async () => {
    await addCup("a");
    const nameTaken = () => conflict("name_taken", "The name is taken.");
    const idTaken = () => conflict("id_taken", "The id is taken.");
    const recorders = { event: async () => {}, change: async () => {} };
    const inserting = (uniqueErrors: Record<string, () => Error>) =>
      createTransactions(
        database,
        { cups: { rows: cupsOf, uniqueErrors } },
        recorders,
      )(async (tx) => tx.cups.save(newCup("b", "a")));
    await expect(inserting({ cups_pkey: idTaken, cups_name: nameTaken })).rejects.toMatchObject({
      reason: "name_taken",
    });
    await expect(inserting({ cups_pkey: idTaken })).rejects.toMatchObject({
      constraint: "cups_name",
    });
  });

  test("ends with the caller's deadline", async () => {
    const started = performance.now();
    const slow = runWithDeadline(Date.now() + 300, () =>
      database.transaction((em) => queryIn(em, "select pg_sleep(600)")),
    );
    await expect(slow).rejects.toMatchObject({ kind: "deadlineExceeded" });
    // Without the deadline, the transaction would end after the default limit of 60 seconds.
    expect(performance.now() - started).toBeLessThan(50_000);
    const late = runWithDeadline(Date.now() - 1, () => addCup("a"));
    await expect(late).rejects.toMatchObject({ kind: "deadlineExceeded" });
  });

  test("ends with the caller's deadline even if the server does not respond", async () => {
    const url = new URL(fresh.url);
    await using proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    await using far = await open(url.href);
    await far.query("select from cups");
    proxy.freeze();
    const late = runWithDeadline(Date.now() + 300, () => far.query("select from cups"));
    await expect(late).rejects.toMatchObject({ kind: "deadlineExceeded" });
    proxy.release();
  });

  test("releases its locks when it is idle for too long", async () => {
    await addCup("a");
    await using silent = await open(fresh.url, { idleTransactionMs: 300 });
    const [held, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const bump = (em: Parameters<typeof queryIn>[0]) =>
      queryIn(em, "update cups set epoch = epoch + 1 where id = 'a'");
    const waiting = silent.transaction(async (em) => {
      await bump(em);
      held.resolve();
      await ended.promise;
    });
    await held.promise;
    await database.transaction(bump);
    ended.resolve();
    await expect(waiting).rejects.toMatchObject({ kind: "unavailable" });
    expect(await database.query("select epoch from cups")).toEqual([{ epoch: 2 }]);
  });

  test("is repeated as a whole after a deadlock", async () => {
    await addCup("a");
    await addCup("b");
    const bothHoldOne = Promise.withResolvers<void>();
    let holding = 0;
    const bump = (ids: readonly [string, string]) =>
      database.transaction(async (em) => {
        const sql = "update cups set epoch = epoch + 1 where id = $1";
        await queryIn(em, sql, [ids[0]]);
        if (++holding === 2) bothHoldOne.resolve();
        await bothHoldOne.promise;
        await queryIn(em, sql, [ids[1]]);
      });
    await Promise.all([bump(["a", "b"]), bump(["b", "a"])]);
    // The retried transaction can lock its first row before the other transaction continues; they then conflict again.
    expect(holding).toBeGreaterThan(2);
    expect(await database.query("select epoch from cups")).toEqual([{ epoch: 3 }, { epoch: 3 }]);
  });

  test("refuses statements of work that was not awaited", async () => {
    let late: Promise<unknown> | undefined;
    const ended = Promise.withResolvers<void>();
    await database.transaction(async (em) => {
      late = ended.promise.then(() => queryIn(em, "select 1"));
    });
    ended.resolve();
    await expect(late).rejects.toThrow("The transaction is over");
  });
});

describe("records", () => {
  const all = () => database.query("select id, name, epoch from cups order by id");

  test("write what changed in loaded rows, in two round trips", async () => {
    await addCup("a");
    statements.length = 0;
    await database.transaction(async (em) => {
      const cup = await cupsOf(em).getForUpdate("a");
      cup.epoch = 2;
    });
    expect(statements).toEqual([
      expect.stringMatching(/^begin/),
      expect.stringMatching(
        /^select "id", "name", "epoch" from cups where "id" = \$1\s+for update/,
      ),
      expect.stringMatching(/^with written_0 as \(update cups set "epoch" = \$1 where id = \$2/),
      "commit",
    ]);
    expect(await all()).toEqual([{ id: "a", name: "a", epoch: 2 }]);
  });

  test("insert, change and remove several rows with one statement each", async () => {
    await database.transaction(async (em) => {
      for (const id of ["a", "b", "c", "d"]) cupsOf(em).save(newCup(id));
    });
    statements.length = 0;
    await database.transaction(async (em) => {
      const cups = cupsOf(em);
      const [a, b, c, d] = await cups.list({}, { order: ["id"], lock: "update" });
      if (!a || !b || !c || !d) throw new Error("not all rows were loaded");
      a.epoch = 5;
      b.epoch = 6;
      cups.remove(c);
      cups.remove(d);
      cups.save(newCup("e"));
    });
    expect(statements).toHaveLength(4);
    expect(await all()).toEqual([
      { id: "a", name: "a", epoch: 5 },
      { id: "b", name: "b", epoch: 6 },
      { id: "e", name: "e", epoch: 1 },
    ]);
  });

  test("commit with a document that reads the written row", async () => {
    await addCup("a");
    const document = await database.transaction(async (em) => {
      const cups = cupsOf(em);
      const cup = await cups.getForUpdate("a");
      cup.name = "renamed";
      return cups.commit(cup, "select name from changed");
    });
    expect(document).toEqual({ name: "renamed" });
    const unchanged = await database.transaction(async (em) =>
      cupsOf(em).commit(await cupsOf(em).getForUpdate("a"), "select name from changed"),
    );
    expect(unchanged).toEqual({ name: "renamed" });
    const inserted = await database.transaction((em) =>
      cupsOf(em).commit(newCup("b"), "select name, made_at from changed"),
    );
    expect(inserted).toEqual({ name: "b", made_at: expect.any(Date) });
  });

  test("throw the error of a missing row", async () => {
    const missing = database.transaction((em) => cupsOf(em).getForUpdate("x"));
    await expect(missing).rejects.toMatchObject({ kind: "notFound" });
    expect(await database.transaction((em) => cupsOf(em).find("x"))).toBeUndefined();
  });

  test("match one of several values, and null", async () => {
    await addCup("a");
    await addCup("b");
    const found = await database.transaction((em) =>
      cupsOf(em).list({ id: ["a", "x"], name: ["a", "b"] }),
    );
    expect(found.map(({ id }) => id)).toEqual(["a"]);
  });

  test("load two queries in one round trip", async () => {
    await addCup("a");
    await addCup("b");
    const [[a], [b]] = await database.transaction((em) =>
      loadBoth(em, selectRows(em, CupSchema, { id: "a" }), selectRows(em, CupSchema, { id: "b" })),
    );
    expect([a?.id, b?.id]).toEqual(["a", "b"]);
  });

  test("refuse to load a row again whose changes are not saved", async () => {
    await addCup("a");
    const again = database.transaction(async (em) => {
      const cup = await cupsOf(em).getForUpdate("a");
      cup.epoch = 9;
      await cupsOf(em).getForUpdate("a");
    });
    await expect(again).rejects.toThrow("loaded again before it was saved");
    const saved = database.transaction(async (em) => {
      const cup = await cupsOf(em).getForUpdate("a");
      cup.epoch = 9;
      cupsOf(em).save(cup);
      return (await cupsOf(em).getForUpdate("a")).epoch;
    });
    expect(await saved).toBe(9);
  });

  test("remove a row that the same transaction inserted, and insert it again", async () => {
    await database.transaction(async (em) => {
      const cups = cupsOf(em);
      const cup = newCup("a");
      cups.save(cup);
      await queryIn(em, "select from cups");
      cups.remove(cup);
      await queryIn(em, "select from cups");
      cups.save(newCup("a", "again"));
    });
    expect(await all()).toEqual([{ id: "a", name: "again", epoch: 1 }]);
  });
});

describe("text that PostgreSQL cannot store", () => {
  const refused = expect.objectContaining({ kind: "badRequest", reason: "unstorable_text" });

  test("is a bad request, as a parameter and inside jsonb", async () => {
    await expect(database.query("select $1::text", ["a\0b"])).rejects.toEqual(refused);
    await expect(database.query("select $1::jsonb", [JSON.stringify({ a: "\0" })])).rejects.toEqual(
      refused,
    );
    await expect(
      database.transaction((em) => queryIn(em, "select $1::text", ["\0"])),
    ).rejects.toEqual(refused);
  });

  test("is also refused by the ORM, and the connection remains usable", async () => {
    await expect(addCup("a\0b")).rejects.toEqual(refused);
    await addCup("a");
    expect(await database.query("select id from cups")).toEqual([{ id: "a" }]);
  });
});

describe("readiness", () => {
  test("reports missing migrations", async () => {
    await expect(database.ready()).resolves.toBeUndefined();
    await using empty = await freshDatabase({ contextName: "none", migrations: [] });
    await using behind = await open(empty.url);
    await expect(behind.ready()).rejects.toThrow("lacks 0001_cups: run the migrate command");
    await empty.query("alter table schema_migrations drop column digest");
    await expect(behind.ready()).rejects.toThrow("by a commit of Statehouse before the release");
  });
});

test.each(["the ORM", "plain SQL"])("closing ends the connections that %s opened", async (user) => {
  const closing = await open(fresh.url, { contextName: "closing" });
  if (user === "the ORM") await closing.orm.em.fork().find(Cup, {});
  else await closing.query("select from cups");
  const connected = async () => {
    const sql = "select from pg_stat_activity where application_name = 'closing'";
    return (await database.query(sql)).length;
  };
  expect(await connected()).toBe(1);
  await closing[Symbol.asyncDispose]();
  await waitFor(async () => (await connected()) === 0);
  await expect(closing.query("select 1")).rejects.toMatchObject({ kind: "unavailable" });
});

test("a connection closed by PostgreSQL causes unavailable, and the pool keeps its size", async () => {
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  for (let round = 0; round < 3; round++) {
    const inside = Promise.withResolvers<void>();
    const killed = Promise.withResolvers<void>();
    const victim = database.transaction(async (em) => {
      await queryIn(em, "select 1");
      inside.resolve();
      await killed.promise;
      await queryIn(em, "select 2");
    });
    await inside.promise;
    await database.query(kill);
    killed.resolve();
    await expect(victim).rejects.toMatchObject({ kind: "unavailable", reason: "database" });
  }
  // Runs more transactions than the pool has connections, which shows that no connection was lost.
  await Promise.all(Array.from({ length: 12 }, (_, index) => addCup(`cup-${index}`)));
});

test("queries succeed again after a restart of PostgreSQL", async () => {
  await using postgres = await ownPostgres();
  const url = postgres.url("postgres");
  await migrate({ url, contextName: "cups", migrations });
  await using restarted = await open(url);
  await addCup("before", restarted);
  await postgres.stop();
  await expect(addCup("while", restarted)).rejects.toMatchObject({ kind: "unavailable" });
  await expect(restarted.query("select 1")).rejects.toMatchObject({ kind: "unavailable" });
  await expect(restarted.ready()).rejects.toThrow();
  await postgres.start();
  await waitFor(() => restarted.ready().then(() => true));
  await addCup("after", restarted);
  expect(await restarted.query("select id from cups order by id")).toEqual([
    { id: "after" },
    { id: "before" },
  ]);
});
