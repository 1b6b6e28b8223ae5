import { type Database, openDatabase } from "@statehouse/postgres";
import { type FreshDatabase, freshDatabase } from "@statehouse/postgres/testing";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger, traceId, withServerSpan } from "@statehouse/runtime";
import { waitFor } from "@statehouse/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLocalBus, type LocalBus, startLocalRelay } from "../local-bus.ts";
import { eventMigrations } from "../migrations.ts";
import { recordEvent } from "../outbox.ts";
import { hint } from "../projection.ts";
import { published } from "../published.ts";

const source = "urn:statehouse:test/workspaces";
const logger = createLogger({ service: "test", level: "silent" });

let stack: AsyncDisposableStack;
let fresh: FreshDatabase;
let database: Database;
let bus: LocalBus;
let received: number[];

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  const schema = { contextName: "local_bus", migrations: eventMigrations };
  fresh = stack.use(await freshDatabase(schema));
  database = stack.use(await openDatabase({ ...schema, url: fresh.url, entities: [], logger }));
  bus = createLocalBus();
  received = [];
});
afterEach(() => stack.disposeAsync());

type Refresh = (ids: readonly string[]) => Promise<void>;
const keep: Refresh = async (ids) => void received.push(...ids.map(Number));

const record = (revision: number) =>
  database.transaction((em) =>
    recordEvent(
      em,
      published(WorkspaceCreatedSchema, "ws-1", {
        workspaceId: String(revision),
        revision: BigInt(revision),
      }),
    ),
  );
const subscribe = (refresh: Refresh, name = "workspaces") => {
  const hints = hint(WorkspaceCreatedSchema, ({ workspaceId }) => workspaceId);
  return stack.use(
    bus.subscribe({ name, filter: "statehouse.>", projections: [{ hints, refresh }] }, logger),
  );
};
const relay = () =>
  stack.use(startLocalRelay({ database, bus, service: "workspaces", source, logger }));
const waiting = async () => (await database.query("select from outbox")).length;

test("events are delivered in order, in the trace of their request, and stay in the outbox", async () => {
  const traces: unknown[] = [];
  subscribe(keep);
  subscribe(async () => void traces.push(traceId()), "traces");
  relay();
  bus.open();
  const trace = await withServerSpan("POST /x", undefined, {}, async () => {
    await record(1);
    return traceId();
  });
  await waitFor(() => traces.length === 1);
  await record(2);
  await waitFor(() => traces.length === 2);
  expect(received).toEqual([1, 2]);
  expect(traces[0]).toBe(trace);
  expect(await waiting()).toBe(2);
});

test("events recorded before all services have subscribed wait until the bus is open", async () => {
  await record(1);
  relay();
  await record(2);
  subscribe(keep);
  bus.open();
  await waitFor(() => received.length === 2);
  expect(received).toEqual([1, 2]);
});

test("an event with a lower id that is committed later is delivered", async () => {
  subscribe(keep);
  relay();
  bus.open();
  const committed = Promise.withResolvers<void>();
  const late = database.transaction(async (em) => {
    await recordEvent(
      em,
      published(WorkspaceCreatedSchema, "ws-2", { workspaceId: "1", revision: 1n }),
    );
    await committed.promise;
  });
  await record(2);
  await waitFor(() => received.length === 1);
  committed.resolve();
  await late;
  await waitFor(() => received.length === 2);
  expect(received).toEqual([2, 1]);
});

test("a failed refresh is called again and does not block the next event", async () => {
  let failures = 0;
  subscribe(async (ids) => {
    if (ids.includes("1") && ++failures < 3) throw new Error("not yet");
    await keep(ids);
  });
  relay();
  bus.open();
  await record(1);
  await record(2);
  await waitFor(() => received.length === 2);
  expect(received.toSorted()).toEqual([1, 2]);
});

test("disposal does not wait for a bus that was never opened", async () => {
  await record(1);
  await using _relay = startLocalRelay({ database, bus, service: "workspaces", source, logger });
  await record(2);
});
