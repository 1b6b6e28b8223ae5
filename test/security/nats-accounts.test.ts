import { readFile } from "node:fs/promises";
import path from "node:path";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { headers, type NatsConnection } from "@nats-io/transport-node";
import {
  connectNats,
  type Event,
  ensureStreams,
  ensureSubscribers,
  eventType,
  MAIL_STREAM,
  type Nats,
  STREAM,
  subscribe,
} from "@statehouse/events";
import { eventMessages } from "@statehouse/events/catalog";
import { createLogger, natsSettings, readConfig } from "@statehouse/runtime";
import { streamSettings } from "@statehouse/service";
import { needs, ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { runStatehouse } from "../stack/deployed-keys.ts";

const services = ["access", "workspaces", "state"] as const;
const own = "org-a1";
const foreign = "org-b2";
/** The subscribers, with their filters. Each has the account that `statehouse keys subscriber` creates. */
const filters = {
  search: "statehouse.>",
  tenant: `statehouse.*.*.*.*.${own}`,
  "mail-sender": "statehouse-mail.>",
} as const;
type Subscriber = keyof typeof filters;
const subscribers = Object.keys(filters) as Subscriber[];

const types = eventMessages.map(eventType).toSorted();
const isMail = (subject: string) => subject.startsWith("statehouse-mail.");
const logger = createLogger({ service: "test", level: "silent" });

needs("nats-server")("a NATS with the accounts that statehouse keys prints", () => {
  let url = "";
  let printed = "";
  /** A connection of an unrestricted user in the services' account, with which the tests observe the server. */
  let admin: NatsConnection;
  let subscriptions: ReturnType<typeof streamSettings>;

  const as = async (name: string, domain?: string): Promise<Nats> => {
    const seed = await readFile(path.join(printed, name, "NATS_NKEY_SEED"), "utf8");
    const inboxPrefix = `_INBOX_${name}`;
    return connectNats({ url, name, login: { nkeySeed: seed }, inboxPrefix, domain });
  };
  const manager = () => jetstreamManager(admin);

  /** Creates the streams, and the consumers that the subscribers import, as a service does. */
  async function setUp(): Promise<void> {
    await using state = await as("state");
    await ensureStreams(state, subscriptions);
    await ensureSubscribers(state, subscriptions.subscribers, logger);
  }

  beforeAll(async () => {
    const stack = new AsyncDisposableStack();
    const folder = stack.use(await temporaryFolder());
    const file = path.join(folder.path, "keys.json");
    printed = path.join(folder.path, "printed");
    const keys = (...args: string[]) => runStatehouse(["keys", ...args], {});
    await keys("new", file);
    await keys("subscriber", file, "--name", "search", "--filter", filters.search);
    await keys("subscriber", file, "--name", "tenant", "--organization", own);
    await keys("subscriber", file, "--name", "mail-sender", "--mail");
    await keys("print", file, "--format", "files", "--to", printed);
    const text = await readFile(path.join(printed, "nats", "users.conf"), "utf8");
    const accounts = JSON.parse(text.replace(/^accounts /, ""));
    accounts.STATEHOUSE.users.push({ user: "test", password: "test" });
    const configuration = `accounts ${JSON.stringify(accounts)}`;
    ({ url } = stack.use(await ownNats({ configuration })));
    const login = { user: "test", password: "test" };
    admin = await stack.use(connectNats({ url, name: "test", login })).connection();
    const EVENT_SUBSCRIBERS_FILE = path.join(printed, "state", "EVENT_SUBSCRIBERS");
    subscriptions = streamSettings(readConfig(z.object(natsSettings), { EVENT_SUBSCRIBERS_FILE }));
    await setUp();
    return () => stack.disposeAsync();
  });

  /** Returns the subject and content of every message of both streams, without a consumer that could miss one. */
  async function stored(): Promise<{ subject: string; content: string }[]> {
    const { streams } = await manager();
    const messages: { subject: string; content: string }[] = [];
    for (const stream of [STREAM, MAIL_STREAM]) {
      const { state } = await streams.info(stream);
      for (let seq = state.first_seq; state.messages > 0 && seq <= state.last_seq; seq++) {
        const message = await streams.getMessage(stream, { seq });
        if (message) messages.push({ subject: message.subject, content: message.string() });
      }
    }
    return messages;
  }

  async function purge(): Promise<void> {
    const { streams } = await manager();
    for (const stream of [STREAM, MAIL_STREAM]) await streams.purge(stream);
  }

  test("each event is published by its service and received by those to whom it was granted", async () => {
    await purge();
    for (const name of [...services, ...subscribers]) {
      await using nats = await as(name);
      const connection = await nats.connection();
      for (const type of types) connection.publish(`${type}.${own}`, name);
      await connection.flush();
    }
    const publishers = Map.groupBy(await stored(), ({ subject }) => subject);
    await purge();
    for (const type of types) {
      for (const organization of [own, foreign, "_"]) {
        await jetstream(admin).publish(`${type}.${organization}`, "{}");
      }
    }
    const received = new Map<string, Set<string>>();
    for (const name of subscribers) {
      await using nats = await as(name, "statehouse");
      const reachable = types.filter((type) => isMail(type) === (name === "mail-sender"));
      const handle = async ({ type, organizationId }: Event) => {
        const subject = `${type}.${organizationId ?? "_"}`;
        received.set(subject, (received.get(subject) ?? new Set()).add(name));
      };
      await using _subscription = subscribe({
        ...{ nats, durable: name, filter: filters[name], logger },
        handlers: Object.fromEntries(reachable.map((type) => [type, handle])),
        deadLetter: async () => {},
      });
      const { consumers } = await manager();
      const stream = name === "mail-sender" ? MAIL_STREAM : STREAM;
      await waitFor(async () => {
        const { num_pending, num_ack_pending } = await consumers.info(stream, name);
        return num_pending + num_ack_pending === 0;
      });
    }
    const names = (all: Iterable<string> = []) => [...all].toSorted().join(", ") || "-";
    const rows = types.map((type) => [
      type,
      names(publishers.get(`${type}.${own}`)?.map(({ content }) => content)),
      ...[own, foreign, "_"].map((organization) => names(received.get(`${type}.${organization}`))),
    ]);
    const head = ["event", "published by", `received of ${own}`, `of ${foreign}`, "of none"];
    const widths = head.map((_, column) =>
      Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
    );
    const table = [head, ...rows].map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
    await expect(`${table.join("\n")}\n`).toMatchFileSnapshot("nats-accounts.golden.txt");
  });

  /** Returns what a subscriber could damage: the settings of the streams and consumers, and the numbers of messages. */
  async function state(): Promise<unknown> {
    const { streams, consumers } = await manager();
    const all = await Array.fromAsync(streams.list());
    return Promise.all(
      all.map(async ({ config, state: { messages, last_seq } }) => ({
        ...{ config, messages, last_seq },
        consumers: (await Array.fromAsync(consumers.list(config.name))).map((one) => one.config),
      })),
    );
  }

  /** Requests to the JetStream API, with the payloads with which a permitted client would succeed. */
  const requestsOf = (stream: string, durable: string): [string, object | undefined][] => [
    ["INFO", undefined],
    [`STREAM.CREATE.OTHER`, { name: "OTHER", subjects: ["other.>"] }],
    [`STREAM.UPDATE.${stream}`, { name: stream, subjects: ["other.>"] }],
    [`STREAM.INFO.${stream}`, { subjects_filter: ">" }],
    ["STREAM.NAMES", undefined],
    [`STREAM.MSG.GET.${stream}`, { last_by_subj: "statehouse.>" }],
    [`DIRECT.GET.${stream}`, { last_by_subj: "statehouse.>" }],
    [`STREAM.PURGE.${stream}`, undefined],
    [`STREAM.DELETE.${stream}`, undefined],
    [`CONSUMER.NAMES.${stream}`, undefined],
    [`CONSUMER.DELETE.${stream}.${durable}`, undefined],
    ...["CREATE", "DURABLE.CREATE"].flatMap((action): [string, object][] =>
      [durable, `other`].map((name) => [
        `CONSUMER.${action}.${stream}.${name}`,
        {
          stream_name: stream,
          config: { durable_name: name, name, filter_subject: "statehouse.>" },
        },
      ]),
    ),
    ...services.map((service): [string, object] => [
      `CONSUMER.MSG.NEXT.${stream}.${service}-updated`,
      { batch: 1, no_wait: true },
    ]),
    ...subscribers
      .filter((name) => name !== durable)
      .flatMap((name): [string, object | undefined][] => [
        [`CONSUMER.INFO.${stream}.${name}`, undefined],
        [`CONSUMER.MSG.NEXT.${stream}.${name}`, { batch: 1, no_wait: true }],
      ]),
  ];

  test.for(subscribers)("%s can request nothing but its own events", async (durable) => {
    await using nats = await as(durable);
    const connection = await nats.connection();
    const before = await state();
    for (const prefix of ["$JS.API", "$JS.statehouse.API"]) {
      for (const stream of [STREAM, MAIL_STREAM]) {
        for (const [request, body] of requestsOf(stream, durable)) {
          const content = body ? JSON.stringify(body) : "";
          const answer = await connection
            .request(`${prefix}.${request}`, content, { timeout: 30_000 })
            .then(
              (message) => message.string(),
              (error: unknown) => String(error),
            );
          expect(answer, `${prefix}.${request}`).toMatch(/not enabled|no responders|NoResponders/i);
        }
      }
    }
    expect(await state()).toEqual(before);
  });

  test.for(subscribers)(
    "%s cannot direct a response to a subject of the services",
    async (durable) => {
      await jetstream(admin).publish(`statehouse.state.state-version.created.v1.${own}`, "{}");
      await using nats = await as(durable);
      const connection = await nats.connection();
      const before = await state();
      const stream = durable === "mail-sender" ? MAIL_STREAM : STREAM;
      const next = `$JS.statehouse.API.CONSUMER.MSG.NEXT.${stream}.${durable}`;
      const targets = [
        `statehouse.workspaces.workspace.deleted.v1.${foreign}`,
        `statehouse-mail.access.invitation.created.v1.${foreign}`,
        ...[STREAM, MAIL_STREAM].flatMap((name) => [
          `$JS.API.STREAM.PURGE.${name}`,
          `$JS.API.STREAM.DELETE.${name}`,
        ]),
      ];
      for (const reply of targets) {
        // Covers responses with and without an event. The first request gets an event if there is one. The second one
        // gets all remaining events, so the response to the third one is empty.
        for (const body of [
          { batch: 1 },
          { batch: 1000, no_wait: true },
          { batch: 1, no_wait: true },
        ]) {
          connection.publish(next, JSON.stringify(body), { reply });
        }
        connection.publish(next.replace("MSG.NEXT", "INFO"), "", { reply });
        connection.publish(`$JS.ACK.${stream}.${durable}.1.1.1.1.1`, "+NXT", { reply });
      }
      await connection.flush();
      await admin.flush();
      // Responses are sent in order, so all responses above have been sent when this one arrives.
      await connection.request(next.replace("MSG.NEXT", "INFO"), "");
      expect(await state()).toEqual(before);
    },
  );

  test.for(subscribers)("%s sees no message on the subjects of the services", async (durable) => {
    // Deletes the consumer and creates it again, to end the pull requests that other tests left open. Otherwise, NATS
    // would send the events of this test as responses to them.
    const { consumers } = await manager();
    await consumers.delete(durable === "mail-sender" ? MAIL_STREAM : STREAM, durable);
    await setUp();
    await using nats = await as(durable);
    const connection = await nats.connection();
    const seen: string[] = [];
    connection.subscribe(">", { callback: (_, message) => void seen.push(message.subject) });
    await connection.flush();
    await jetstream(admin).publish(`statehouse.state.state-version.created.v1.${own}`, "{}");
    await jetstream(admin).publish(`statehouse-mail.access.invitation.created.v1.${own}`, "{}");
    await connection.flush();
    expect(seen).toEqual([]);
  });

  test("after the stream was deleted, a service creates it and the subscribers receive again", async () => {
    const { streams } = await manager();
    const received: string[] = [];
    await using nats = await as("tenant", "statehouse");
    const type = "statehouse.state.state-version.created.v1";
    await using _subscription = subscribe({
      ...{ nats, durable: "tenant", filter: filters.tenant, logger },
      handlers: { [type]: async ({ subject }) => void received.push(subject) },
      deadLetter: async () => {},
    });
    await streams.delete(STREAM);
    await setUp();
    const named = headers();
    named.set("ce-subject", "sv-after");
    await jetstream(admin).publish(`${type}.${own}`, "{}", { headers: named });
    await waitFor(() => received.includes("sv-after"));
  });

  test("a subscription with another filter than the granted one fails", async () => {
    await using nats = await as("tenant", "statehouse");
    const warnings: unknown[] = [];
    await using _subscription = subscribe({
      ...{ nats, durable: "tenant", filter: "statehouse.>", handlers: {} },
      logger: { ...logger, info() {}, error() {}, warn: (about) => void warnings.push(about.err) },
      deadLetter: async () => {},
    });
    await waitFor(() => warnings.length > 0);
    expect(String(warnings[0])).toContain(`The consumer tenant has the filter ${filters.tenant};`);
  });
});
