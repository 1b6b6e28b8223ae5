import { cp, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import {
  create,
  type DescMessage,
  fromJsonString,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import {
  connectNats,
  ensureStreams,
  eventMigrations,
  eventType,
  type Nats,
  recordEvent,
  STREAM,
  startRelay,
} from "@statehouse/events";
import { sampleEvent } from "@statehouse/events/catalog";
import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { UserCreatedSchema } from "@statehouse/proto/statehouse/access/v1/events";
import { StateVersionProcessedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import {
  DataRetentionPolicySetSchema,
  WorkspaceAutoDestroyDueSchema,
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger, runAs } from "@statehouse/runtime";
import { needs, ownNats, runProgram, temporaryFolder, waitFor } from "@statehouse/testing";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  buildDrivers,
  goEnvironment,
  goFolder,
  type Language,
  type Line,
  languages,
  pythonFolder,
  pythonProgram,
  type RunningDriver,
  startDriver,
  waitForDriver,
} from "./drivers.ts";

const logger = createLogger({ service: "test", level: "silent" });
/** Time limit for downloading and compiling the packages, which is necessary once on each machine. */
const BUILD_MS = 600_000;
const created = eventType(WorkspaceCreatedSchema);

needs(
  "nats-server",
  "go",
  "python client",
)("the subscribers' packages of all languages", () => {
  let commands: Awaited<ReturnType<typeof buildDrivers>>;
  let folder = "";
  let stack: AsyncDisposableStack;
  let server: Awaited<ReturnType<typeof ownNats>>;
  let nats: Nats;
  beforeAll(async () => {
    const built = await temporaryFolder();
    commands = await buildDrivers(built.path);
    return () => built[Symbol.asyncDispose]();
  }, BUILD_MS);
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    folder = stack.use(await temporaryFolder()).path;
    server = stack.use(await ownNats());
    nats = stack.use(connectNats({ url: server.url, name: "test" }));
    await ensureStreams(nats, {});
  });
  afterEach(() => stack.disposeAsync());

  const deadLettersOf = (language: Language) => path.join(folder, language);

  /** Starts one driver of each language. Each has a durable consumer of its own. */
  const startAll = (scenario: object): RunningDriver[] =>
    languages.map((language) =>
      stack.use(
        startDriver(language, commands[language], {
          ...{ url: server.url, durable: language, filter: "statehouse.>" },
          ...{ deadLetters: deadLettersOf(language), ...scenario },
        }),
      ),
    );

  const each = (
    drivers: readonly RunningDriver[],
    condition: (driver: RunningDriver) => boolean | Promise<boolean>,
  ) => Promise.all(drivers.map((driver) => waitForDriver(driver, () => condition(driver))));

  /** Publishes the sample of an event type, but with the given id, subject and revision. */
  async function publish(
    id: string,
    {
      schema = WorkspaceCreatedSchema as DescMessage,
      subject = id,
      revision = 1,
      type = eventType(schema),
      msgID = id,
    } = {},
  ): Promise<void> {
    const sample = sampleEvent(schema);
    const named = headers();
    const sequence = String(revision).padStart(20, "0");
    const changed = { "ce-id": id, "ce-subject": subject, "ce-sequence": sequence };
    for (const [name, value] of Object.entries({ ...sample.headers, ...changed })) {
      named.set(name, String(value));
    }
    await jetstream(await nats.connection()).publish(
      `${type}.org-1`,
      JSON.stringify(sample.payload),
      { headers: named, msgID },
    );
  }

  const consumerOf = async ({ language }: RunningDriver) =>
    (await jetstreamManager(await nats.connection())).consumers.info(STREAM, language);
  const idle = async (driver: RunningDriver): Promise<boolean> => {
    const { num_pending, num_ack_pending } = await consumerOf(driver);
    return num_pending + num_ack_pending === 0;
  };
  const ended = async (driver: RunningDriver): Promise<void> => {
    expect(await driver.exit, JSON.stringify(driver.lines())).toBe(0);
    expect(driver.lines().at(-1)).toEqual({ ended: true });
  };

  test("decode what a relay publishes to the same values", async () => {
    const database = stack.use(
      await openDatabase({
        ...{ contextName: "events", entities: [], migrations: eventMigrations, logger },
        url: stack.use(await freshDatabase({ contextName: "events", migrations: eventMigrations }))
          .url,
      }),
    );
    const source = "https://tf.example.com/workspaces";
    stack.use(startRelay({ database, nats, service: "workspaces", source, logger }));
    const expected: { type: string; revision: string; message: unknown }[] = [];
    const record = async <Schema extends DescMessage>(
      schema: Schema,
      init: MessageInitShape<Schema>,
    ) => {
      const revision = expected.length + 1;
      const message = create(schema, init);
      const fields = { ...init, revision: BigInt(revision) };
      await database.transaction((em) =>
        recordEvent(em, { schema, subject: `subject-${revision}`, fields, changed: [] }),
      );
      const type = eventType(schema);
      expected.push({ type, revision: String(revision), message: toJson(schema, message) });
    };
    const operator = { type: "operator", id: "Zoë 100%" } as const;
    await runAs(operator, async () => {
      await record(WorkspaceCreatedSchema, { workspaceId: "ws-1", organizationId: "org-1" });
      await record(WorkspaceUpdatedSchema, {
        ...{ workspaceId: "ws-1", organizationId: "org-1", name: 'Ω "quoted"\n' },
        ...{ placementVersion: 9_007_199_254_740_993n, changedAttributes: ["auto-apply", "name"] },
      });
      await record(WorkspaceLockedSchema, { workspaceId: "ws-1", epoch: 7n });
      const dueAt = timestampFromDate(new Date("2026-01-02T03:04:05.678Z"));
      await record(WorkspaceAutoDestroyDueSchema, { workspaceId: "ws-1", dueAt });
      await record(DataRetentionPolicySetSchema, { deleteOlderThanNDays: 0 });
      await record(DataRetentionPolicySetSchema, { kind: "dont-delete" });
      await record(StateVersionProcessedSchema, {
        ...{ stateVersionId: "sv-1", resourceCount: 3, outputsTruncated: true },
        outputsAdded: [{ name: "password", sensitive: true }, { name: "address" }],
      });
      await record(WorkspaceDeletedSchema, { workspaceId: "ws-1", organizationId: "org-1" });
      await record(UserCreatedSchema, { userId: "user-1", username: "alice" });
    });
    const drivers = startAll({ handled: [...new Set(expected.map(({ type }) => type))] });
    await each(drivers, (driver) => driver.handled().length === expected.length);
    const [first, ...others] = drivers.map((driver) => driver.lines());
    expect(first).toMatchObject(expected);
    expect(first?.[0]).toMatchObject({
      ...{ subject: "subject-1", source, organizationId: "org-1", applied: true },
      auth: { type: "system", id: "operator:Zoë 100%" },
    });
    expect(first?.at(-1)).not.toHaveProperty("organizationId");
    for (const lines of others) expect(lines).toEqual(first);
  });

  test("keep the order, apply by revision, and repeat what failed until it is a dead letter", async () => {
    await publish("a1", { subject: "ws-a", revision: 1 });
    await publish("a1", { subject: "ws-a", revision: 1 }); // A relay publishes again after a crash.
    await publish("a2", { subject: "ws-a", revision: 2 });
    await publish("a1", { subject: "ws-a", revision: 1, msgID: "again" });
    await publish("flaky");
    await publish("poison", { subject: "ws-p" });
    await publish("a/b", { subject: "ws-p", revision: 2 });
    await publish("unavailable");
    await publish("unknown", { type: "statehouse.future.noun.created.v1" });
    await publish("last");
    const drivers = startAll({
      ...{ handled: [created], maxFailures: 3, transient: ["unavailable"] },
      fail: { flaky: 2, poison: 99, "a/b": 99, unavailable: 4 },
    });
    await each(drivers, idle);
    for (const driver of drivers) {
      driver.kill("SIGTERM");
      await ended(driver);
      const lines = driver.lines().filter(({ handled }) => handled !== undefined);
      const order = lines.map(({ handled, applied }) => `${handled} ${applied}`);
      expect(order.slice(0, 3), driver.language).toEqual(["a1 true", "a2 true", "a1 false"]);
      const first = [...new Set(driver.handled())];
      expect(first).toEqual(["a1", "a2", "flaky", "poison", "a/b", "unavailable", "last"]);
      const outcomes = (id: string) =>
        lines.filter(({ handled }) => handled === id).map(({ failed }) => failed);
      expect(outcomes("flaky")).toEqual([true, true, false]);
      expect(outcomes("poison")).toEqual([true, true, true]);
      expect(outcomes("unavailable")).toEqual([true, true, true, true, false]);
      const logged = driver.lines().flatMap(({ log, message }) => (log ? `${log} ${message}` : []));
      expect(new Set(logged)).toEqual(
        new Set([
          "warn event processing failed; it is delivered again",
          "error event stored as dead letter",
        ]),
      );
    }
    const contents = await Promise.all(
      languages.map(async (language) => {
        const names = (await readdir(deadLettersOf(language))).toSorted();
        expect(names).toEqual(["a%2Fb.json", "poison.json"]);
        const file = path.join(deadLettersOf(language), "poison.json");
        const { error, consumer, ...stored } = JSON.parse(await readFile(file, "utf8"));
        expect(error).toContain("cannot");
        expect(consumer).toBe(language);
        return stored;
      }),
    );
    for (const content of contents) expect(content).toEqual(contents[0]);
    expect(contents[0]).toMatchObject({ failures: 3, event: { id: "poison", subject: "ws-p" } });
  });

  test("replay the dead letters of each other", async () => {
    await publish("second", { subject: "ws-p", revision: 2 });
    await publish("first", { subject: "ws-p", revision: 1 });
    await publish("other", { type: "statehouse.future.noun.created.v1" });
    const fail = { second: 9, first: 9, other: 9 };
    const drivers = startAll({ handled: [created], otherwise: true, maxFailures: 1, fail });
    await each(drivers, idle);
    for (const by of languages) {
      for (const of of languages) {
        const copy = path.join(folder, `${by}-${of}`);
        await cp(deadLettersOf(of), copy, { recursive: true });
        const replay = async (scenario: object): Promise<Line[]> => {
          const driver = startDriver(by, commands[by], {
            ...{ mode: "replay", deadLetters: copy, handled: [created], ...scenario },
          });
          await ended(driver);
          return driver.lines();
        };
        const failing = await replay({ otherwise: false, fail: { second: 1 } });
        expect(failing.at(-2), `${by} of ${of}`).toEqual({ replayed: 1, failed: 2, left: 2 });
        const [one, two, counts] = await replay({ otherwise: true });
        expect([one?.handled, two?.handled].toSorted()).toEqual(["other", "second"]);
        expect(counts).toEqual({ replayed: 2, failed: 0, left: 0 });
        expect(failing.map(({ handled }) => handled).slice(0, 2)).toEqual(["first", "second"]);
      }
    }
  }, 180_000);

  test("read events that Statehouse cannot have published, and store them as dead letters", async () => {
    const client = jetstream(await nats.connection());
    const forged = [
      { id: "", sequence: "-1", time: "tomorrow" },
      { id: "a%00b", sequence: "9007199254740993", time: "0001-01-01T00:00:00Z" },
      { id: "100%", sequence: "1e3", time: "99999-01-01T00:00:00Z" },
      {
        id: '"quoted \\"id\\""',
        sequence: "00000000000000000007",
        time: "2026-01-02T03:04:05+02:00",
      },
      { id: "x".repeat(5000), sequence: "", time: "" },
    ];
    for (const [index, { id, sequence, time }] of forged.entries()) {
      const named = headers();
      for (const [name, value] of Object.entries({ id, sequence, time }))
        named.set(`ce-${name}`, value);
      const data = ["", "{", "[]", '{"workspaceId":7}', '"\0"'][index] ?? "";
      await client.publish(`${created}.org-1`, data, { headers: named });
    }
    const drivers = startAll({ handled: [created], maxFailures: 1 });
    await each(drivers, idle);
    const stored = await Promise.all(
      languages.map(async (language) => {
        const names = await readdir(deadLettersOf(language));
        expect(names).toHaveLength(forged.length);
        const files = names.map((name) =>
          readFile(path.join(deadLettersOf(language), name), "utf8"),
        );
        const events = (await Promise.all(files)).map((text) => JSON.parse(text).event);
        return events
          .map(({ time, ...event }) => ({ ...event, ...(time < "2026-06" && { time }) }))
          .toSorted((one, other) => one.id.localeCompare(other.id));
      }),
    );
    expect(stored[0]?.map(({ id }) => id.slice(0, 11))).toEqual(
      ["", 'quoted "id"', "100%", "a\u{FFFD}b", "xxxxxxxxxxx"].toSorted((a, b) =>
        a.localeCompare(b),
      ),
    );
    for (const events of stored) expect(events).toEqual(stored[0]);
    // Replicas in different languages that share a folder store an event in the same file.
    const [names, ...others] = await Promise.all(
      languages.map(async (language) => (await readdir(deadLettersOf(language))).toSorted()),
    );
    for (const other of others) expect(other).toEqual(names);
    expect(stored[0]).toContainEqual(
      expect.objectContaining({ revision: 7, time: "2026-01-02T01:04:05.000Z" }),
    );
  });

  test("stop in a handler after the event, and continue with the next one", async () => {
    await publish("one");
    await publish("two");
    const stopping = startAll({ handled: [created], stopOn: "one" });
    for (const driver of stopping) {
      await ended(driver);
      expect(driver.handled()).toEqual(["one"]);
      expect(driver.lines().map(({ finished }) => finished)).toContain("one");
      expect((await consumerOf(driver)).num_ack_pending).toBe(0);
    }
    const next = startAll({ handled: [created] });
    await each(next, (driver) => driver.handled().length === 1);
    for (const driver of next) expect(driver.handled()).toEqual(["two"]);
  });

  test("receive again what a killed process was processing", async () => {
    await publish("one");
    const killed = startAll({ handled: [created], hangOn: "one" });
    await each(killed, (driver) => driver.handled().length === 1);
    for (const driver of killed) driver.kill("SIGKILL");
    const next = startAll({ handled: [created] });
    await each(next, async (driver) => driver.handled().length === 1 && (await idle(driver)));
  });

  test("continue after a restart of NATS, and after the stream was deleted", async () => {
    const drivers = startAll({ handled: [created] });
    await publish("one");
    await each(drivers, idle);
    await server.stop();
    await server.start();
    await waitFor(() => publish("two").then(() => true));
    await each(drivers, (driver) => driver.handled().includes("two"));
    const { streams } = await jetstreamManager(await nats.connection());
    await streams.delete(STREAM);
    await ensureStreams(nats, {});
    await publish("three");
    await each(drivers, (driver) => driver.handled().includes("three"));
    for (const driver of drivers) {
      expect([...new Set(driver.handled())]).toEqual(["one", "two", "three"]);
    }
  });

  test("wait for a stream that does not exist yet, and for NATS", async () => {
    const { streams } = await jetstreamManager(await nats.connection());
    await streams.delete(STREAM);
    await server.stop();
    const drivers = startAll({ handled: [created] });
    await each(drivers, (driver) => driver.errors() !== "");
    for (const driver of drivers) expect(driver.errors()).toMatch(/refused|no servers/i);
    await server.start();
    const more = startAll({ handled: [created] });
    await each(more, (driver) => driver.errors().includes("stream not found"));
    // A request that is sent while the connection is being reopened receives no response.
    await waitFor(() => ensureStreams(nats, {}).then(() => true));
    await publish("one");
    // Two replicas of each subscriber share the events.
    const handled = ({ language }: RunningDriver) =>
      [...drivers, ...more].filter((of) => of.language === language).flatMap((of) => of.handled());
    await each(drivers, (driver) => handled(driver).length === 1);
    await each([...drivers, ...more], (driver) =>
      driver.lines().some(({ message }) => message === "event subscription resumed"),
    );
  });

  test("refuse a filter that excludes a handler", async () => {
    for (const driver of startAll({ handled: [created], filter: "statehouse.state.>" })) {
      expect(await driver.exit).toBe(1);
      expect(driver.lines().at(-1)?.refused?.toLowerCase()).toContain(
        `the filter statehouse.state.> excludes the handled events ${created}`,
      );
    }
  });

  test("name a refused login, permission, consumer and filter", async () => {
    const all = { publish: ">", subscribe: ">" };
    const accounts = {
      S: {
        jetstream: "enabled",
        users: [
          { user: "admin", password: "admin", permissions: all },
          { user: "mute", password: "mute", permissions: { ...all, publish: { deny: "$JS.>" } } },
        ],
        exports: [{ service: "$JS.API.CONSUMER.INFO.STATEHOUSE.granted" }],
      },
      B: {
        users: [{ user: "billing", password: "billing" }],
        imports: [
          {
            service: { account: "S", subject: "$JS.API.CONSUMER.INFO.STATEHOUSE.granted" },
            to: "$JS.statehouse.API.CONSUMER.INFO.STATEHOUSE.granted",
          },
        ],
      },
    };
    const configuration = `accounts ${JSON.stringify(accounts)}`;
    const { url } = stack.use(await ownNats({ configuration }));
    const admin = { user: "admin", password: "admin" };
    const connection = stack.use(connectNats({ url, name: "admin", login: admin }));
    await ensureStreams(connection, {});
    const { consumers } = await jetstreamManager(await connection.connection());
    await consumers.add(STREAM, { durable_name: "granted", filter_subject: "statehouse.state.>" });
    const login = (user: string, password = user) => ({ url, login: { user, password } });
    const cases = [
      [login("admin", "wrong"), /authorization violation|authentication/i],
      [login("mute"), /permissions violation/i],
      [{ ...login("billing"), domain: "statehouse", durable: "other" }, /other cannot be reached/],
      [
        { ...login("billing"), domain: "statehouse", durable: "granted" },
        /the consumer granted has the filter statehouse\.state\.>/i,
      ],
    ] as const;
    await Promise.all(
      cases.map(([scenario, expected]) =>
        each(startAll(scenario), (driver) => expected.test(driver.errors())),
      ),
    );
  });

  test("have samples of the catalog and an emitter for the tests of a subscriber", async () => {
    const schemas = [WorkspaceLockedSchema, StateVersionProcessedSchema, UserCreatedSchema];
    for (const language of ["go", "python"] as const) {
      const handled = schemas.map(eventType);
      const driver = startDriver(language, commands[language], { mode: "samples", handled });
      await ended(driver);
      for (const schema of schemas) {
        const { headers: named, payload } = sampleEvent(schema);
        const message = toJson(schema, fromJsonString(schema, JSON.stringify(payload)));
        const line = driver.lines().find(({ type }) => type === eventType(schema));
        expect(line).toMatchObject({ handled: named["ce-id"], message });
      }
    }
  });
});

needs("go")("the package of Go", () => {
  test(
    "is formatted, has no findings of vet, and passes its tests",
    async () => {
      const go = (...args: string[]) =>
        runProgram("go", args, { cwd: goFolder, env: goEnvironment() });
      const vet = await go("vet", "./...");
      expect(vet.code, vet.output).toBe(0);
      const tested = await go("test", "./...");
      expect(tested.code, tested.output).toBe(0);
      expect((await runProgram("gofmt", ["-l", goFolder])).output).toBe("");
    },
    BUILD_MS,
  );
});

needs("python client")("the package of Python", () => {
  test("is formatted, typed, has no findings of ruff, and passes its tests", async () => {
    const run = async (program: string, ...args: string[]) => {
      const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
      const { code, output } = await runProgram(pythonProgram(program), args, {
        ...{ cwd: pythonFolder, env },
      });
      expect(code, output).toBe(0);
    };
    await run("ruff", "check", "--no-cache", ".");
    await run("ruff", "format", "--no-cache", "--check", ".");
    await run("mypy", "--cache-dir", "/dev/null", ".");
    await run("python", "-m", "unittest");
  });
});
