import { writeFile } from "node:fs/promises";
import path from "node:path";
import { nkeys } from "@nats-io/transport-node";
import {
  connectNats,
  eventMigrations,
  on,
  published,
  recordEvent,
  startRelay,
  subscribe,
} from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger, natsSettings, readConfig, watchSettings } from "@statehouse/runtime";
import { natsOptions } from "@statehouse/service";
import { needs, newAuthority, ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const { createAccount, createOperator, createUser } = nkeys;
type KeyPair = ReturnType<typeof createUser>;

const schema = z.object(natsSettings);
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Connects with these settings in the same way as a service. */
const connection = (env: Record<string, string>, name = "test") =>
  connectNats({ ...natsOptions(readConfig(schema, env)), name, inboxPrefix: `_INBOX_${name}` });

/** Waits until the server accepts a connection with these settings. */
async function connects(env: Record<string, string>): Promise<boolean> {
  await using nats = connection(env);
  return await waitFor(() => nats.ready().then(() => true));
}

/** Returns whether the first attempt to connect with these settings fails. */
async function isRefused(env: Record<string, string>): Promise<boolean> {
  await using nats = connection(env);
  const outcome = () =>
    nats.ready().then(
      () => "accepted",
      (error: Error) => error.message !== "not connected yet" && "refused",
    );
  return (await waitFor(outcome)) === "refused";
}

/** Writes the value of a setting to a file; returns the variable that names the file. */
async function fileWith(folder: string, name: string, content: string) {
  const file = path.join(folder, name.toLowerCase());
  await writeFile(file, content);
  return { [`${name}_FILE`]: file };
}

/** Creates the JWTs of an operator, an account and a user, and the credentials file of the user. */
function accounts() {
  const [operator, account, user] = [createOperator(), createAccount(), createUser()];
  const jwt = (of: KeyPair, by: KeyPair, type: string, more: object = {}) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = {
      ...{ jti: of.getPublicKey(), iat: Math.floor(Date.now() / 1000) },
      ...{ iss: by.getPublicKey(), sub: of.getPublicKey(), name: type },
      nats: { type, version: 2, ...more },
    };
    const signed = `${part({ typ: "JWT", alg: "ed25519-nkey" })}.${part(claims)}`;
    const signature = by.sign(new TextEncoder().encode(signed));
    return `${signed}.${Buffer.from(signature).toString("base64url")}`;
  };
  const unlimited = {
    subs: -1,
    conn: -1,
    leaf: -1,
    imports: -1,
    exports: -1,
    data: -1,
    payload: -1,
  };
  const accountJwt = jwt(account, operator, "account", {
    limits: { ...unlimited, wildcards: true },
  });
  const userJwt = jwt(user, account, "user", { subs: -1, data: -1, payload: -1 });
  return {
    configuration: [
      `operator: ${jwt(operator, operator, "operator")}`,
      "resolver: MEMORY",
      `resolver_preload: { ${account.getPublicKey()}: ${accountJwt} }`,
    ].join("\n"),
    credentials: [
      ...["-----BEGIN NATS USER JWT-----", userJwt, "------END NATS USER JWT------", ""],
      ...["-----BEGIN USER NKEY SEED-----", text(user.getSeed()), "------END USER NKEY SEED------"],
    ].join("\n"),
  };
}

needs("nats-server")("a bus with credentials", () => {
  const refused: Record<string, string>[] = [{}, { NATS_USER: "state", NATS_PASSWORD: "wrong" }];

  test("accepts a user and its password only", async () => {
    await using server = await ownNats({ login: { user: "state", password: "s3cret" } });
    const url = { NATS_URL: server.url };
    expect(await connects({ ...url, NATS_USER: "state", NATS_PASSWORD: "s3cret" })).toBe(true);
    for (const env of refused) expect(await isRefused({ ...url, ...env })).toBe(true);
  });

  test("accepts a token", async () => {
    await using server = await ownNats({ configuration: "authorization { token: t0ken }" });
    expect(await connects({ NATS_URL: server.url, NATS_TOKEN: "t0ken" })).toBe(true);
    for (const env of refused) expect(await isRefused({ NATS_URL: server.url, ...env })).toBe(true);
  });

  test("accepts an nkey", async () => {
    const key = createUser();
    const configuration = `authorization { users: [ { nkey: ${key.getPublicKey()} } ] }`;
    await using server = await ownNats({ configuration });
    const seed = text(key.getSeed());
    expect(await connects({ NATS_URL: server.url, NATS_NKEY_SEED: seed })).toBe(true);
    const other = text(createUser().getSeed());
    expect(await isRefused({ NATS_URL: server.url, NATS_NKEY_SEED: other })).toBe(true);
  });

  test("accepts a credentials file", async () => {
    await using folder = await temporaryFolder();
    const { configuration, credentials } = accounts();
    await using server = await ownNats({ configuration, jetstream: false });
    const url = { NATS_URL: server.url };
    const file = await fileWith(folder.path, "NATS_CREDENTIALS", credentials);
    expect(await connects({ ...url, ...file })).toBe(true);
    const outsider = await fileWith(folder.path, "NATS_CREDENTIALS", accounts().credentials);
    expect(await isRefused({ ...url, ...outsider })).toBe(true);
  });

  test("and TLS is only used with its authority and a client certificate", async () => {
    await using folder = await temporaryFolder();
    const authority = await newAuthority();
    const [server, client] = [await authority.issue("localhost"), await authority.issue("state")];
    const outsider = await (await newAuthority()).issue("state");
    const file = async (name: string, content: string) =>
      Object.values(await fileWith(folder.path, name, content))[0] ?? "";
    const ca = await file("ca", authority.certificate);
    const tls = {
      cert_file: await file("cert", server.certificate),
      key_file: await file("key", server.privateKey),
      ...{ ca_file: ca, verify: true },
    };
    await using nats = await ownNats({ configuration: `tls ${JSON.stringify(tls)}` });
    const certificate = async (name: string, from: typeof client) => ({
      ...(await fileWith(folder.path, `${name}_CERT`, from.certificate)),
      ...(await fileWith(folder.path, `${name}_KEY`, from.privateKey)),
    });
    const own = await certificate("NATS", client);
    const url = { NATS_URL: `nats://localhost:${nats.port}` };
    expect(await connects({ ...url, ...own, NATS_CA_FILE: ca })).toBe(true);
    expect(await isRefused({ ...url, ...own })).toBe(true);
    expect(await isRefused({ ...url, NATS_CA_FILE: ca })).toBe(true);
    const foreign = { ...url, NATS_CA_FILE: ca, ...(await certificate("NATS", outsider)) };
    expect(await isRefused(foreign)).toBe(true);
  });

  test("with required TLS a server without it receives no password", async () => {
    await using server = await ownNats({ login: { user: "state", password: "s3cret" } });
    const login = { NATS_USER: "state", NATS_PASSWORD: "s3cret", NATS_URL: server.url };
    expect(await connects(login)).toBe(true);
    expect(await isRefused({ ...login, NATS_TLS: "on" })).toBe(true);
  });

  test("a rotated password is read from its file for the next connection", async () => {
    await using folder = await temporaryFolder();
    const url = async (password: string) =>
      stack.use(await ownNats({ login: { user: "state", password } }));
    await using stack = new AsyncDisposableStack();
    const first = await url("first");
    const file = await fileWith(folder.path, "NATS_PASSWORD", "first\n");
    const env = { NATS_URL: first.url, NATS_USER: "state", ...file };
    const config = readConfig(schema, env);
    const logger = createLogger({ service: "test", level: "silent" });
    stack.use(watchSettings(config, { logger }));
    const nats = stack.use(connectNats({ ...natsOptions(config), name: "test" }));
    await waitFor(() => nats.ready().then(() => true));
    await first.stop();
    await first.start({ login: { user: "state", password: "second" } });
    await fileWith(folder.path, "NATS_PASSWORD", "second\n");
    await waitFor(() => nats.ready().then(() => true));
  });

  test("a service needs no other subjects than those of docs/operations.md", async () => {
    await using stack = new AsyncDisposableStack();
    const user = (name: string, consumers: readonly string[]) => ({
      ...{ user: name, password: name },
      permissions: {
        publish: [
          `statehouse.${name}.>`,
          "$JS.API.INFO",
          ...["STATEHOUSE", "STATEHOUSE_MAIL"].flatMap((stream) =>
            ["INFO", "CREATE", "UPDATE"].map((action) => `$JS.API.STREAM.${action}.${stream}`),
          ),
          ...consumers.flatMap((consumer) => [
            `$JS.API.CONSUMER.*.STATEHOUSE.${consumer}`,
            `$JS.API.CONSUMER.MSG.NEXT.STATEHOUSE.${consumer}`,
            `$JS.API.CONSUMER.CREATE.STATEHOUSE.${consumer}.>`,
            `$JS.ACK.STATEHOUSE.${consumer}.>`,
          ]),
        ],
        subscribe: [`_INBOX_${name}.>`],
      },
    });
    const users = [user("workspaces", []), user("state", ["state-updated"])];
    const configuration = `authorization ${JSON.stringify({ users })}`;
    const server = stack.use(await ownNats({ configuration }));
    const as = (name: string) =>
      stack.use(connection({ NATS_URL: server.url, NATS_USER: name, NATS_PASSWORD: name }, name));
    const logger = createLogger({ service: "test", level: "silent" });
    const migrations = eventMigrations;
    const fresh = stack.use(await freshDatabase({ contextName: "events", migrations }));
    const database = stack.use(
      await openDatabase({
        contextName: "events",
        url: fresh.url,
        entities: [],
        migrations,
        logger,
      }),
    );
    const received: string[] = [];
    stack.use(
      subscribe({
        ...{ nats: as("state"), durable: "state-updated", logger },
        filter: "statehouse.workspaces.>",
        handlers: on(WorkspaceCreatedSchema, async ({ name }) => void received.push(name)),
        deadLetter: async () => {},
      }),
    );
    stack.use(
      startRelay({
        database,
        nats: as("workspaces"),
        service: "workspaces",
        source: "urn:test",
        logger,
      }),
    );
    await database.transaction((em) =>
      recordEvent(
        em,
        published(WorkspaceCreatedSchema, "ws-1", {
          ...{ workspaceId: "ws-1", name: "one", revision: 1n },
        }),
      ),
    );
    await waitFor(() => received.length > 0);
    expect(received).toEqual(["one"]);
  });
});
