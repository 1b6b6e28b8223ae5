import { readFile } from "node:fs/promises";
import path from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { connectNats, MAIL_STREAM, STREAM, subscribe } from "@statehouse/events";
import type { Checkpoint } from "@statehouse/events/subscribe";
import { newId } from "@statehouse/postgres/ids";
import { createLogger } from "@statehouse/runtime";
import { needs, ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { beforeAll, expect, test } from "vitest";
import { runStatehouse } from "../stack/deployed-keys.ts";
import { startStack } from "../stack/stack.ts";
import { newWorkspace, useStack } from "../system/fixture.ts";

const granted = newId("org");
/** The subscribers, with their filters. Each has the account that `statehouse keys subscriber` creates. */
const filters = {
  everything: "statehouse.>",
  tenant: `statehouse.*.*.*.*.${granted}`,
  teams: "statehouse.access.team.>",
  "mail-sender": "statehouse-mail.>",
} as const;
type Subscriber = keyof typeof filters;
const subscribers = Object.keys(filters) as Subscriber[];

/** An event of the listing, in the JSON format of CloudEvents. */
interface ListedEvent {
  type: string;
  subject: string;
  organization?: string;
  data: Readonly<Record<string, unknown>>;
}

interface Response {
  error?: string;
  events?: ListedEvent[];
  next?: { service: string; cursor: string };
}

needs("nats-server")("a listing over a NATS with the accounts that statehouse keys prints", () => {
  let server: Awaited<ReturnType<typeof ownNats>>;
  /** A connection of an unrestricted user in the services' account, with which the tests observe the server. */
  let admin: NatsConnection;
  const connections = new Map<Subscriber, NatsConnection>();
  const as = (name: Subscriber): NatsConnection => {
    const connection = connections.get(name);
    if (!connection) throw new Error(`${name} is not connected`);
    return connection;
  };
  let printed = "";
  const read = (...names: string[]) => readFile(path.join(printed, ...names), "utf8");

  beforeAll(async () => {
    const stack = new AsyncDisposableStack();
    const folder = stack.use(await temporaryFolder()).path;
    const file = path.join(folder, "keys.json");
    printed = path.join(folder, "printed");
    const keys = (...args: string[]) => runStatehouse(["keys", ...args], {});
    await keys("new", file);
    for (const name of subscribers) {
      const filter = name === "mail-sender" ? ["--mail"] : ["--filter", filters[name]];
      await keys("subscriber", file, "--name", name, ...filter);
    }
    await keys("print", file, "--format", "files", "--to", printed);
    const accounts = JSON.parse((await read("nats", "users.conf")).replace(/^accounts /, ""));
    const login = { user: "test", password: "test" };
    accounts.STATEHOUSE.users.push(login);
    server = stack.use(await ownNats({ configuration: `accounts ${JSON.stringify(accounts)}` }));
    const connect = (options: object) =>
      stack.use(connectNats({ url: server.url, name: "test", ...options })).connection();
    admin = await connect({ login });
    for (const name of subscribers) {
      const nkeySeed = await read(name, "NATS_NKEY_SEED");
      connections.set(name, await connect({ login: { nkeySeed } }));
    }
    return () => stack.disposeAsync();
  });

  const fixture = useStack(() =>
    startStack({
      async rewire(environments) {
        for (const service of ["access", "state", "workspaces"] as const) {
          const environment = environments[service];
          delete environment.NATS_USER;
          delete environment.NATS_PASSWORD;
          environment.NATS_URL = server.url;
          environment.NATS_NKEY_SEED = await read(service, "NATS_NKEY_SEED");
          environment.EVENT_SUBSCRIBERS = await read(service, "EVENT_SUBSCRIBERS");
        }
      },
    }),
  );

  const send = async (
    name: Subscriber,
    subject: string,
    content: string | object = {},
  ): Promise<Response> => {
    const payload = typeof content === "string" ? content : JSON.stringify(content);
    const options = { timeout: 20_000 };
    return (await as(name).request(`statehouse-listing.${subject}`, payload, options)).json();
  };

  /** Reads all pages of the listing. */
  async function listAll(name: Subscriber, request: object = {}): Promise<ListedEvent[]> {
    const all: ListedEvent[] = [];
    let next: Response["next"] = { service: "access", cursor: "" };
    while (next) {
      const { service, cursor } = next;
      const page: Response = await send(name, service, { ...request, cursor });
      if (page.error !== undefined) throw new Error(page.error);
      all.push(...(page.events ?? []));
      next = page.next;
    }
    return all;
  }

  const noResponders = (error: unknown) =>
    error instanceof Error && /no responders/i.test(`${error.message} ${error.cause}`);

  test("the listing contains only what the filter of the subscriber admits", async () => {
    const { stack, owner, organization } = fixture();
    const { id } = await newWorkspace(fixture());
    await addOrganization();
    const all = await listAll("everything");
    const organizations = (events: ListedEvent[]) => new Set(events.map((one) => one.organization));
    expect(organizations(all)).toContain(granted);
    expect(organizations(all)).toContain(undefined);
    expect(all.map(({ data }) => data.workspaceId)).toContain(id);
    const own = await listAll("tenant");
    expect(own).toEqual(unordered(all.filter((one) => one.organization === granted)));
    expect(new Set(own.map(({ type }) => type))).toEqual(
      new Set([
        "statehouse.access.team.created.v1",
        "statehouse.workspaces.organization.created.v1",
        "statehouse.workspaces.workspace.created.v1",
      ]),
    );
    // A filter in the request can narrow the granted filter, and never widens it.
    for (const filter of [
      "statehouse.>",
      `statehouse.*.*.*.*.${granted}`,
      "statehouse.*.*.*.*.*",
    ]) {
      expect(await listAll("tenant", { filter })).toHaveLength(own.length);
    }
    const others = all.map((one) => one.organization).filter((one) => one !== granted);
    for (const foreign of [others.find((one) => one !== undefined), "_"]) {
      const filter = `statehouse.*.*.*.*.${foreign}`;
      expect(await listAll("tenant", { filter })).toEqual([]);
    }
    const some = await listAll("teams");
    expect(new Set(some.map(({ type }) => type))).toEqual(
      new Set(["statehouse.access.team.created.v1"]),
    );
    expect(await listAll("teams", { filter: "statehouse.workspaces.>" })).toEqual([]);
    expect(await listAll("mail-sender")).toEqual([]);
    expect(await listAll("mail-sender", { filter: "statehouse.>" })).toEqual([]);

    /** Adds an organization whose id is known before the services start, with a team and a workspace. */
    async function addOrganization(): Promise<void> {
      const copy = (table: string, changes: object, condition: string) =>
        [
          `insert into ${table} select (jsonb_populate_record(t, $1)).* from ${table} t
           where ${condition} limit 1`,
          JSON.stringify(changes),
        ] as const;
      const [inside] = await stack.rows<{ id: string }>(
        "workspaces",
        "select id from organizations where name = $1",
        [organization],
      );
      if (!inside) throw new Error("the organization of the fixture does not exist");
      const of = `organization_id = '${inside.id}'`;
      const insert = async (database: "access" | "workspaces", parts: readonly [string, string]) =>
        void (await stack.rows(database, parts[0], [parts[1]]));
      const name = { id: granted, name: "granted" };
      await insert("workspaces", copy("organizations", name, `id = '${inside.id}'`));
      await insert("access", copy("organizations", { id: granted }, `id = '${inside.id}'`));
      const workspace = { id: newId("ws"), organization_id: granted, name: "granted" };
      await insert("workspaces", copy("workspaces", workspace, `id = '${id}'`));
      const team = { id: newId("team"), organization_id: granted };
      await insert("access", copy("teams", team, of));
      expect(owner.id).toMatch(/^user-/);
    }

    function unordered(events: ListedEvent[]): unknown {
      return expect.toSatisfy(
        (listed: ListedEvent[]) =>
          JSON.stringify(listed.map(keyOf).toSorted()) ===
          JSON.stringify(events.map(keyOf).toSorted()),
      );
    }

    function keyOf({ type, subject, data }: ListedEvent): string {
      return JSON.stringify([type, subject, data]);
    }
  });

  test("a subscriber reaches its own requests only, and its content names no other subscriber", async () => {
    await newWorkspace(fixture());
    for (const name of subscribers) {
      const others = [...subscribers, "access", "*", ">"].flatMap((other) =>
        ["access", "state", "workspaces", "stream"].map((service) => `${service}.${other}`),
      );
      for (const subject of others) {
        await expect(send(name, subject), `${name} ${subject}`).rejects.toSatisfy(noResponders);
      }
    }
    const own = await listAll("tenant");
    for (const claim of ["subscriber", "durable", "name", "filters", "granted"]) {
      expect(await listAll("tenant", { [claim]: "everything" })).toHaveLength(own.length);
      expect(await listAll("tenant", { [claim]: ["statehouse.>"] })).toHaveLength(own.length);
    }
  });

  test("a subscriber sees no request of another subscriber and cannot respond to it", async () => {
    const seen: string[] = [];
    const subscriptions = [">", "statehouse-listing.>", "_R_.>", "_INBOX.>"].map((subject) =>
      as("tenant").subscribe(subject, {
        callback: (_, message) => {
          seen.push(message.subject);
          message.respond('{"events":[]}');
        },
      }),
    );
    await as("tenant").flush();
    expect((await listAll("everything")).length).toBeGreaterThan(0);
    await as("tenant").flush();
    expect(seen).toEqual([]);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  test("a response cannot be directed to a subject of the services", async () => {
    const { streams } = await jetstreamManager(admin);
    const state = () =>
      Promise.all(
        [STREAM, MAIL_STREAM].map(async (name) => {
          const { config, state: messages } = await streams.info(name);
          return { config, messages: messages.messages, last: messages.last_seq };
        }),
      );
    await waitFor(
      async () => (await fixture().stack.rows("access", "select from outbox")).length === 0,
    );
    await waitFor(
      async () => (await fixture().stack.rows("workspaces", "select from outbox")).length === 0,
    );
    const before = await state();
    const targets = [
      `statehouse.workspaces.workspace.deleted.v1.${granted}`,
      `$JS.API.STREAM.PURGE.${STREAM}`,
      `$JS.API.STREAM.DELETE.${MAIL_STREAM}`,
    ];
    for (const reply of targets) {
      for (const service of ["access", "state", "workspaces", "stream"]) {
        as("tenant").publish(`statehouse-listing.${service}`, "{}", { reply });
      }
    }
    // The requests of a subscriber are processed in order, so all responses above have been sent when these arrive.
    for (const service of ["access", "state", "workspaces"]) await send("tenant", service);
    await admin.flush();
    expect(await state()).toEqual(before);
  });

  test("requests that are not valid are refused, and the listing continues", async () => {
    const cases: [content: string | object, error: string][] = [
      ["nonsense", "The request is not valid JSON."],
      [{ filter: "state house" }, "Filter must be a subject"],
      [{ filter: 1 }, "Filter must be a subject"],
      [{ filter: "" }, "Filter must be a subject"],
      [{ filter: `statehouse.${"a".repeat(300)}` }, "Filter must be a subject"],
      [{ cursor: 1 }, "Cursor must be a text."],
      [{ cursor: "nonsense" }, "Cursor is invalid; begin the listing again."],
      [{ cursor: "nothing/1" }, "Cursor is invalid; begin the listing again."],
      [{ cursor: "users/\0" }, "Cursor is invalid; begin the listing again."],
    ];
    for (const [content, error] of cases) {
      const response = await send("everything", "access", content);
      expect(response.error, JSON.stringify(content)).toMatch(error);
      expect(response.events).toBeUndefined();
    }
    for (const content of ["", "null", "[]", "1"]) {
      const response = await send("everything", "access", content);
      expect(response, content).toMatchObject({ events: expect.any(Array) });
    }
  });

  test("most of many requests of one subscriber are refused, and requests of other subscribers are not", async () => {
    const errors = new Set<string | undefined>();
    const flood = Array.from({ length: 3000 }, async () => {
      const { error } = await send("tenant", "access");
      errors.add(error);
    });
    expect((await send("everything", "access")).error).toBeUndefined();
    await Promise.all(flood);
    expect([...errors].toSorted()).toEqual([
      "Too many requests are waiting; repeat the request later.",
      undefined,
    ]);
    expect((await send("tenant", "access")).error).toBeUndefined();
  });

  test("a subscription with an account of its own takes a snapshot", async () => {
    const nkeySeed = await read("teams", "NATS_NKEY_SEED");
    await using nats = connectNats({
      ...{ url: server.url, name: "teams", login: { nkeySeed }, domain: "statehouse" },
    });
    const listed: string[] = [];
    let checkpoint: Checkpoint | undefined;
    await using _subscription = subscribe({
      ...{ nats, durable: "teams", filter: filters.teams, handlers: {} },
      otherwise: async ({ subject, isListed }) => {
        if (isListed) listed.push(subject);
      },
      deadLetter: async () => {},
      logger: createLogger({ service: "test", level: "silent" }),
      snapshot: {
        checkpoint: {
          load: async () => checkpoint,
          save: async (reached) => {
            checkpoint = reached;
          },
        },
        begin: async () => async () => {},
      },
    });
    await waitFor(() => checkpoint !== undefined);
    const expected = (await listAll("teams")).map(({ subject }) => subject);
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  test("the position of the stream is shown", async () => {
    for (const name of subscribers) {
      expect(await send(name, "stream")).toEqual({
        created: expect.any(String),
        firstSequence: 1,
        lastSequence: expect.any(Number),
      });
    }
  });
});
