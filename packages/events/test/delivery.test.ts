import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { unavailable } from "@statehouse/errors";
import { type Database, openDatabase, queryIn } from "@statehouse/postgres";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger, runAs, traceId, withServerSpan } from "@statehouse/runtime";
import { mentions, ownNats, startFaultProxy, waitFor } from "@statehouse/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { replayDeadLetters, requireReachableHints, startConsumer } from "../consumer.ts";
import type { Event } from "../event.ts";
import { eventMigrations as migrations } from "../migrations.ts";
import { connectNats, type Nats } from "../nats.ts";
import { recordEvent } from "../outbox.ts";
import { hint } from "../projection.ts";
import { published } from "../published.ts";
import { LOCK, startRelay } from "../relay.ts";
import { ensureStreams, STREAM } from "../stream.ts";
import { eventType, on, subscribe } from "../subscribe.ts";

const source = "urn:statehouse:test/workspaces";
const logger = createLogger({ service: "test", level: "silent" });

let stack: AsyncDisposableStack;
let server: Awaited<ReturnType<typeof ownNats>>;
let nats: Nats;
let fresh: FreshDatabase;
let database: Database;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  server = stack.use(await ownNats());
  fresh = stack.use(await freshDatabase({ contextName: "events", migrations }));
  const options = { contextName: "events", url: fresh.url, entities: [], migrations, logger };
  database = stack.use(await openDatabase(options));
  nats = stack.use(connectNats({ url: server.url, name: "test" }));
});
afterEach(() => stack.disposeAsync());

const record = (revision: number, name = `ws-${revision}`) =>
  database.transaction((em) =>
    recordEvent(
      em,
      published(WorkspaceCreatedSchema, "ws-1", { workspaceId: name, revision: BigInt(revision) }),
    ),
  );

const relay = () =>
  stack.use(startRelay({ database, nats, service: "workspaces", source, logger }));

type Refresh = (ids: readonly string[]) => Promise<void>;
const consumer = (refresh: Refresh) => ({
  name: "workspaces",
  filter: "statehouse.workspaces.>",
  projections: [{ hints: hint(WorkspaceCreatedSchema, ({ workspaceId }) => workspaceId), refresh }],
});
const consume = (refresh: Refresh, maxFailures = 3) =>
  stack.use(
    startConsumer({
      ...consumer(refresh),
      nats,
      database,
      service: "state",
      maxFailures,
      logger,
    }),
  );

/**
 * Returns a `refresh` function that records the revisions of the events. The ids of the workspaces contain the
 * revisions.
 */
function listener() {
  const handled: number[] = [];
  return {
    handled,
    refresh: async (ids: readonly string[]) =>
      void handled.push(...ids.map((id) => Number(id.slice("ws-".length)))),
  };
}

const outboxIsEmpty = async () => (await database.query("select from outbox")).length === 0;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test("an event is published immediately after its commit, with its object and trace", async () => {
  const handled: unknown[] = [];
  consume(async (ids) => void handled.push({ ids, trace: traceId() }));
  relay();
  const trace = await withServerSpan("POST /x", undefined, {}, async () => {
    await record(1);
    return traceId();
  });
  await waitFor(() => handled.length === 1);
  expect(handled).toEqual([{ ids: ["ws-1"], trace }]);
  await waitFor(outboxIsEmpty);
});

test("an event of a rolled back transaction is not published", async () => {
  const { handled, refresh } = listener();
  consume(refresh);
  relay();
  const failing = database.transaction(async (em) => {
    await recordEvent(em, published(WorkspaceCreatedSchema, "ws-1", { revision: 1n }));
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  await record(2);
  await waitFor(() => handled.length > 0);
  expect(handled).toEqual([2]);
});

test("two relays publish each event once and in order", async () => {
  const { handled, refresh } = listener();
  consume(refresh);
  relay();
  relay();
  for (const revision of numbers(250)) await record(revision);
  await waitFor(() => handled.length >= 250);
  await waitFor(outboxIsEmpty);
  expect(handled).toEqual(numbers(250));
  const { streams } = await jetstreamManager(await nats.connection());
  expect((await streams.info(STREAM)).state.messages).toBe(250);
});

test("a relay reads no events while another relay publishes", async () => {
  const options = { contextName: "events", url: fresh.url, entities: [], migrations, logger };
  const statements: string[] = [];
  const onStatement = (sql: string) => void statements.push(sql);
  const waiting = stack.use(await openDatabase({ ...options, onStatement }));
  let readEvents: boolean | undefined;
  await database.transaction(async (em) => {
    await queryIn(em, `select pg_advisory_xact_lock(${LOCK})`);
    await record(1);
    stack.use(startRelay({ database: waiting, nats, service: "workspaces", source, logger }));
    const tries = () =>
      statements.filter((sql) => sql.includes("pg_try_advisory_xact_lock")).length;
    // The second try follows the end of the first transaction.
    await waitFor(() => tries() > 1);
    readEvents = statements.some((sql) => sql.includes("event_id"));
  });
  expect(readEvents).toBe(false);
  await waitFor(outboxIsEmpty);
});

test("events wait in the outbox while the bus is down and are published in order afterwards", async () => {
  const { handled, refresh } = listener();
  consume(refresh);
  relay();
  await record(1);
  await waitFor(async () => handled.length === 1 && (await outboxIsEmpty()));
  await server.stop();
  for (const revision of [2, 3, 4]) await record(revision);
  await expect(nats.ready()).rejects.toThrow();
  expect(await database.query("select from outbox")).toHaveLength(3);
  await server.start();
  await waitFor(() => handled.includes(4));
  // Events are delivered at least once: the last event before the stop can be delivered again.
  expect(handled.filter((revision) => revision > 1)).toEqual([2, 3, 4]);
});

test("a relay that crashes between publishing and deleting does not publish an event twice", async () => {
  const { handled, refresh } = listener();
  consume(refresh);
  await ensureStreams(nats, {});
  await record(1);
  const [row] = await database.query<{ event_id: string }>("select event_id from outbox");
  await database.query("create table kept as select * from outbox");
  relay();
  await waitFor(outboxIsEmpty);
  await database.query(
    `insert into outbox (event_id, type, subject, revision, message, auth_type, auth_id)
     select event_id, type, subject, revision, message, auth_type, auth_id from kept`,
  );
  await waitFor(outboxIsEmpty);
  await record(2);
  await waitFor(() => handled.includes(2));
  expect(handled).toEqual([1, 2]);
  expect(row?.event_id).toMatch(/^[0-9a-f-]{36}$/);
});

test("an event that keeps failing becomes a dead letter, does not delay the next event, and can be replayed", async () => {
  const handled: string[] = [];
  let broken = true;
  const refresh: Refresh = async (ids) => {
    if (ids.includes("poison") && broken) throw new TypeError("cannot");
    handled.push(...ids);
  };
  consume(refresh);
  relay();
  await record(1, "poison");
  await record(2, "fine");
  const deadLetters = () =>
    database.query("select subject, revision::int, failures, error from dead_letters");
  await waitFor(async () => (await deadLetters()).length === 1 && handled.length === 1);
  expect(handled).toEqual(["fine"]);
  expect(await deadLetters()).toEqual([
    { subject: "ws-1", revision: 1, failures: 3, error: "TypeError: cannot" },
  ]);
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const consumers = [consumer(refresh)];
  const replay = () => replayDeadLetters({ database, service: "state", consumers, print });
  expect(await replay()).toBe(false);
  expect(lines).toEqual([
    "state-workspaces: 0 replayed, 1 failed",
    expect.stringMatching(
      /^ {2}\S+ statehouse\.workspaces\.workspace\.created\.v1 of ws-1: .*cannot$/,
    ),
  ]);
  broken = false;
  lines.length = 0;
  expect(await replay()).toBe(true);
  expect(lines).toEqual(["state-workspaces: 1 replayed, 0 failed"]);
  expect(handled).toEqual(["fine", "poison"]);
  expect(await deadLetters()).toEqual([]);
});

test("an unavailable dependency never causes a dead letter", async () => {
  let attempts = 0;
  const { handled, refresh } = listener();
  consume(async (ids) => {
    if (++attempts <= 3) throw unavailable("database", "The database does not answer.");
    await refresh(ids);
  }, 2);
  relay();
  await record(1);
  await waitFor(() => handled.length === 1);
  expect(attempts).toBe(4);
  expect(await database.query("select from dead_letters")).toHaveLength(0);
});

test("a burst of events about one object is one refresh", async () => {
  const calls: (readonly string[])[] = [];
  const gate = Promise.withResolvers<void>();
  consume(async (ids) => {
    calls.push(ids);
    await gate.promise;
  });
  relay();
  await record(1, "first");
  await waitFor(() => calls.length === 1);
  for (const revision of numbers(50)) await record(revision, revision % 2 ? "odd" : "even");
  await waitFor(outboxIsEmpty);
  const { consumers } = await jetstreamManager(await nats.connection());
  const waiting = async () => (await consumers.info(STREAM, "state-workspaces")).num_ack_pending;
  await waitFor(async () => (await waiting()) === 51);
  gate.resolve();
  await waitFor(async () => (await waiting()) === 0);
  expect(calls).toEqual([["first"], ["odd", "even"]]);
});

test("an unreadable event is acknowledged and changes nothing", async () => {
  const { handled, refresh } = listener();
  consume(refresh);
  await ensureStreams(nats, {});
  const connection = await nats.connection();
  const type = "statehouse.workspaces.workspace.created.v1";
  for (const text of ["", "{", "[]", '{"workspaceId":7}', '"ws-9"', "\0"]) {
    await jetstream(connection).publish(type, text);
  }
  relay();
  await record(1);
  await waitFor(() => handled.length === 1);
  expect(handled).toEqual([1]);
  expect(await database.query("select from dead_letters")).toHaveLength(0);
});

test("a restarted consumer continues where it stopped", async () => {
  relay();
  const first = listener();
  const consumer = consume(first.refresh);
  await record(1);
  await waitFor(() => first.handled.length === 1);
  await consumer[Symbol.asyncDispose]();
  await record(2);
  const second = listener();
  consume(second.refresh);
  await waitFor(() => second.handled.length > 0);
  expect(second.handled).toEqual([2]);
});

test("broken PostgreSQL connections of the relay only delay events", async () => {
  const { handled, refresh } = listener();
  consume(refresh);
  relay();
  for (const revision of numbers(120)) {
    await record(revision).catch(() => record(revision));
    if (revision % 40 === 0) {
      await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    }
  }
  await waitFor(outboxIsEmpty);
  await waitFor(() => handled.includes(120));
  expect(new Set(handled)).toEqual(new Set(numbers(120)));
});

test("a service starts, waits and stops without a bus", async () => {
  await server.stop();
  await using none = connectNats({ url: server.url, name: "none" });
  await using _relay = startRelay({ database, nats: none, service: "workspaces", source, logger });
  await using _consumer = startConsumer({
    nats: none,
    database,
    service: "state",
    ...consumer(async () => {}),
    name: "none",
    logger,
  });
  await record(1);
  await expect(none.ready()).rejects.toThrow();
});

test("the subject ends in the organization, so that a filter can be limited to one", async () => {
  relay();
  await ensureStreams(nats, {});
  const received: Event[] = [];
  stack.use(
    subscribe({
      ...{ nats, durable: "one", filter: "statehouse.*.*.*.*.org-1", logger },
      handlers: on(WorkspaceCreatedSchema, async (_, event) => void received.push(event)),
      deadLetter: async () => {},
    }),
  );
  for (const [index, organizationId] of ["org-2", "org-1", "", "org-1"].entries()) {
    await database.transaction((em) =>
      recordEvent(
        em,
        published(WorkspaceCreatedSchema, "ws-1", { organizationId, revision: BigInt(index) }),
      ),
    );
  }
  await waitFor(() => received.length === 2);
  expect(received.map(({ revision, organizationId }) => ({ revision, organizationId }))).toEqual([
    { revision: 1, organizationId: "org-1" },
    { revision: 3, organizationId: "org-1" },
  ]);
  const { consumers } = await jetstreamManager(await nats.connection());
  expect((await consumers.info(STREAM, "one")).num_pending).toBe(0);
});

test("a subscription never creates the stream, and begins when Statehouse has created it", async () => {
  const received: Event[] = [];
  stack.use(
    subscribe({
      ...{ nats, durable: "early", filter: "statehouse.>", logger },
      handlers: on(WorkspaceCreatedSchema, async (_, event) => void received.push(event)),
      deadLetter: async () => {},
    }),
  );
  const connection = await nats.connection();
  const requests = connection.subscribe("$JS.EVENT.ADVISORY.API");
  const subjects: string[] = [];
  const listening = (async () => {
    for await (const message of requests) {
      const { subject } = message.json<{ subject: string }>();
      subjects.push(subject);
      if (subjects.length === 3) return;
    }
  })();
  await listening;
  expect(subjects.filter((subject) => subject.includes("STREAM.CREATE"))).toEqual([]);
  relay();
  await record(1);
  await waitFor(() => received.length === 1);
});

test("handlers that no event of the filter can reach are refused", () => {
  const options = {
    ...{ nats, durable: "wrong", logger, deadLetter: async () => {} },
    handlers: on(WorkspaceCreatedSchema, async () => {}),
  };
  for (const filter of ["statehouse.state.>", "statehouse.workspaces.workspace.created.v1"]) {
    expect(() => subscribe({ ...options, filter })).toThrow(
      `The filter ${filter} excludes the handled events statehouse.workspaces.workspace.created.v1.`,
    );
  }
  const { projections } = consumer(async () => {});
  const excluding = { name: "one", filter: "statehouse.workspaces.*.deleted.>", projections };
  expect(() => requireReachableHints([excluding])).toThrow("exclude the hint");
  const both = [excluding, { ...excluding, filter: "statehouse.workspaces.*.created.>" }];
  expect(() => requireReachableHints(both)).not.toThrow();
});

test("an event names its actor, and the service if it works by itself", async () => {
  relay();
  await ensureStreams(nats, {});
  const received: Event[] = [];
  stack.use(
    subscribe({
      ...{ nats, durable: "actors", filter: "statehouse.>", logger },
      handlers: on(WorkspaceCreatedSchema, async (_, event) => void received.push(event)),
      deadLetter: async () => {},
    }),
  );
  const origin = { tokenId: "at-1", address: "192.0.2.1" };
  const actors = [
    { type: "user", id: "user-1", ...origin },
    { type: "team", id: "team-1", ...origin },
    { type: "organization", id: "org-1", ...origin },
    { type: "run", id: "run-1", ...origin },
    { type: "service", id: "runner" },
    { type: "operator", id: "Zoë" },
  ] as const;
  for (const [revision, actor] of actors.entries()) await runAs(actor, () => record(revision));
  await record(actors.length);
  await waitFor(() => received.length === actors.length + 1);
  expect(received.map(({ auth }) => auth)).toEqual([
    { type: "user", id: "user-1" },
    { type: "api_key", id: "team-1" },
    { type: "api_key", id: "org-1" },
    { type: "service_account", id: "run-1" },
    { type: "service_account", id: "service:runner" },
    { type: "system", id: "operator:Zoë" },
    { type: "service_account", id: "service:events" },
  ]);
});

test("a batch is sent before its first acknowledgement arrives", async () => {
  await ensureStreams(nats, {});
  for (const revision of numbers(50)) await record(revision);
  await using proxy = await startFaultProxy(server.port);
  const held = proxy.hold({
    direction: "answers",
    when: mentions('"stream":"STATEHOUSE"', '"seq"'),
  });
  const url = `nats://127.0.0.1:${proxy.port}`;
  const slow = stack.use(connectNats({ url, name: "slow" }));
  stack.use(startRelay({ database, nats: slow, service: "workspaces", source, logger }));
  await held;
  const { streams } = await jetstreamManager(await nats.connection());
  await waitFor(async () => (await streams.info(STREAM)).state.messages === 50);
  expect(await database.query("select from outbox")).toHaveLength(50);
  proxy.release();
  await waitFor(outboxIsEmpty);
  const { handled, refresh } = listener();
  consume(refresh);
  await waitFor(() => handled.length === 50);
  expect(handled).toEqual(numbers(50));
});

test("an event that cannot be published stays in the outbox with those after it, which are published once", async () => {
  await using small = await ownNats({ configuration: "max_payload: 4096" });
  const limited = stack.use(connectNats({ url: small.url, name: "limited" }));
  await record(1);
  await record(2, `ws-${"x".repeat(8000)}`);
  await record(3);
  await record(4);
  stack.use(startRelay({ database, nats: limited, service: "workspaces", source, logger }));
  const waiting = async () =>
    (await database.query<{ revision: number }>("select revision from outbox order by id")).map(
      ({ revision }) => revision,
    );
  await waitFor(async () => (await waiting()).length === 3);
  expect(await waiting()).toEqual([2, 3, 4]);
  await database.query("delete from outbox where revision = 2");
  await waitFor(outboxIsEmpty);
  const { streams } = await jetstreamManager(await limited.connection());
  expect((await streams.info(STREAM)).state.messages).toBe(3);
});

test("an event of a snapshot is logged as a dead letter only once it is stored", async () => {
  await ensureStreams(nats, {});
  const listed = {
    id: "1",
    type: eventType(WorkspaceCreatedSchema),
    subject: "ws-1",
    time: "2026-01-02T03:04:05Z",
    sequence: "1",
    data: { workspaceId: "ws-1" },
  };
  const connection = await nats.connection();
  connection.subscribe("statehouse-listing.stream", {
    callback: (_, request) =>
      void request.respond('{"created":"2026-01-01T00:00:00Z","firstSequence":1,"lastSequence":1}'),
  });
  connection.subscribe("statehouse-listing.access", {
    callback: (_, request) => void request.respond(JSON.stringify({ events: [listed] })),
  });
  const logged: string[] = [];
  const log = (_: unknown, message: string) => void logged.push(message);
  let attempts = 0;
  stack.use(
    subscribe({
      nats,
      durable: "one",
      filter: "statehouse.>",
      handlers: on(WorkspaceCreatedSchema, async () => {
        throw new Error("not processed");
      }),
      maxFailures: 1,
      async deadLetter() {
        attempts += 1;
        if (attempts === 1) throw new Error("the disk is full");
      },
      snapshot: {
        checkpoint: { load: async () => undefined, save: async () => {} },
        begin: async () => async () => {},
      },
      logger: { info: log, warn: log, error: log },
    }),
  );
  await waitFor(() => logged.includes("snapshot is complete"));
  expect(logged.slice(0, 5)).toEqual([
    "snapshot begins",
    "event subscription lost",
    "snapshot begins",
    "event stored as dead letter",
    "snapshot is complete",
  ]);
});
