import { type Database, openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger } from "@statehouse/runtime";
import { ownNats } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createListing, type Listing, listed } from "../listing.ts";
import { createListingClient } from "../listing-client.ts";
import { eventMigrations as migrations } from "../migrations.ts";
import { connectNats, type Nats } from "../nats.ts";
import { published } from "../published.ts";
import { serveListing } from "../serve-listing.ts";

const MAX_PAYLOAD = 16_384;
const COUNT = 2500;
const logger = createLogger({ service: "test", level: "silent" });

interface Row {
  key: string;
  length: number;
  revision: bigint;
}

/** Objects whose names have different lengths; the last event is almost as large as a message can be. */
const nouns = {
  workspaces: {
    listed: listed<Row>({
      schemas: [WorkspaceCreatedSchema],
      from: `(select lpad(i::text, 5, '0') as id, '_' as organization_id, i as revision,
          case when i = ${COUNT} then 12000 else i % 600 end as length
        from generate_series(1, ${COUNT}) i) t`,
      columns: "t.length",
      events: ({ key, length, revision }) => [
        published(WorkspaceCreatedSchema, `ws-${key}`, {
          workspaceId: `ws-${key}`,
          name: "é".repeat(length / 2),
          revision,
        }),
      ],
    }),
  },
};

const stack = new AsyncDisposableStack();
let database: Database;
let nats: Nats;
beforeAll(async () => {
  const server = stack.use(await ownNats({ configuration: `max_payload: ${MAX_PAYLOAD}` }));
  const { url } = stack.use(await freshDatabase({ contextName: "events", migrations }));
  database = stack.use(
    await openDatabase({ contextName: "events", url, entities: [], migrations, logger }),
  );
  nats = stack.use(connectNats({ url: server.url, name: "test" }));
});
afterAll(() => stack.disposeAsync());

const objects = (): Listing => createListing(nouns, { database, source: "urn:test/workspaces" });
const serve = (service: "access" | "state" | "workspaces", listing: Listing) =>
  serveListing({ nats, service, listing, subscribers: undefined, logger });
const empty: Listing = async () => ({ events: [], nextCursor: "" });

test("the pages of all services contain each object once, and each page fits into one message", async () => {
  const sizes: number[] = [];
  await using _access = serve("access", empty);
  await using _state = serve("state", empty);
  await using _workspaces = serve("workspaces", async (request) => {
    const page = await objects()(request);
    sizes.push(page.events.join(",").length);
    return page;
  });
  await (await nats.connection()).flush();
  const revisions: number[] = [];
  for await (const event of createListingClient(nats).objects("statehouse.>")) {
    expect(event.isListed).toBe(true);
    revisions.push(event.revision);
  }
  expect(revisions).toEqual(Array.from({ length: COUNT }, (_, index) => index + 1));
  expect(sizes.length).toBeGreaterThan(COUNT / 100);
  expect(Math.max(...sizes)).toBeLessThan(MAX_PAYLOAD);
});

test("an object whose events do not fit into one message is reported", async () => {
  await using _access = serve("access", async () => ({
    events: [JSON.stringify("x".repeat(MAX_PAYLOAD))],
    nextCursor: "",
  }));
  await (await nats.connection()).flush();
  await expect(createListingClient(nats).objects("statehouse.>").next()).rejects.toThrow(
    "statehouse-listing.access responded: The request failed.",
  );
});

test("several replicas share the requests, and each request has one response", async () => {
  const calls = [0, 0];
  const replica = (index: number) =>
    serve("access", async () => {
      calls[index] = (calls[index] ?? 0) + 1;
      return { events: [], nextCursor: "again" };
    });
  await using _first = replica(0);
  {
    await using _second = replica(1);
    await (await nats.connection()).flush();
    const connection = await nats.connection();
    for (let count = 0; count < 100; count++) {
      await connection.request("statehouse-listing.access", "{}");
    }
    expect(calls.reduce((sum, count) => sum + count, 0)).toBe(100);
    for (const count of calls) expect(count).toBeGreaterThan(0);
  }
  // The replica that stopped receives no further requests.
  const connection = await nats.connection();
  const [, before] = calls;
  for (let count = 0; count < 20; count++) {
    await connection.request("statehouse-listing.access", "{}");
  }
  expect(calls).toEqual([expect.any(Number), before]);
});
