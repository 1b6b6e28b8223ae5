import { writeFile } from "node:fs/promises";
import path from "node:path";
import { eventMigrations } from "@statehouse/events";
import { migrate, openDatabase } from "@statehouse/postgres";
import { createLogger } from "@statehouse/runtime";
import { type Authority, newAuthority, ownPostgres, temporaryFolder } from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";

// Attack: a process between a service and its database answers in the place of PostgreSQL, to read passwords and rows.

const stack = new AsyncDisposableStack();
let postgres: Awaited<ReturnType<typeof ownPostgres>>;
let authority: Authority;
let folder: string;

beforeAll(async () => {
  postgres = stack.use(await ownPostgres());
  folder = stack.use(await temporaryFolder()).path;
  authority = await newAuthority();
  await postgres.createDatabases(["events"]);
});
afterAll(() => stack.disposeAsync());

/** Makes PostgreSQL use a certificate for these names. */
async function certify(...names: readonly string[]): Promise<void> {
  const { certificate, privateKey } = await authority.issue(...names);
  const client = new Client({ connectionString: postgres.url("postgres") });
  await client.connect();
  try {
    // Makes the server write the files itself, because the server runs as another user, who must own the key.
    for (const [file, pem] of Object.entries({
      "server.crt": certificate,
      "server.key": privateKey,
    })) {
      const lines = `select regexp_split_to_table(${client.escapeLiteral(pem)}, '\\n')`;
      await client.query(`copy (${lines}) to program 'umask 077; cat > ${file}'`);
    }
    await client.query("alter system set ssl = on");
    await client.query("select pg_reload_conf()");
    await expect.poll(async () => (await client.query("show ssl")).rows).toEqual([{ ssl: "on" }]);
  } finally {
    await client.end();
  }
}

/**
 * Returns the URL of the database with the host name `localhost` and `sslmode=verify-full`. Writes the certificate of
 * this authority to the CA file first, replacing any other.
 */
async function urlOf({ certificate }: Authority): Promise<string> {
  const file = path.join(folder, "authorities.pem");
  await writeFile(file, certificate);
  const url = new URL(postgres.url("events"));
  url.hostname = "localhost";
  url.searchParams.set("sslmode", "verify-full");
  url.searchParams.set("sslrootcert", file);
  return url.href;
}

const options = { contextName: "events", migrations: eventMigrations };

const logger = createLogger({ service: "test", level: "silent" });
const open = (url: string) => openDatabase({ ...options, url, entities: [], logger });

/**
 * Connects once as a service does and once as the migrate command does; returns whether the first connection is
 * encrypted.
 */
async function connect(url: string): Promise<boolean | undefined> {
  await using database = await open(url);
  const sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
  const [row] = await database.query<{ ssl: boolean }>(sql);
  await migrate({ ...options, url });
  return row?.ssl;
}

test("a server without TLS receives no password", async () => {
  await expect(connect(await urlOf(authority))).rejects.toMatchObject({ kind: "unavailable" });
});

test("the connection is encrypted with the authority and the name of the server", async () => {
  await certify("localhost");
  expect(await connect(await urlOf(authority))).toBe(true);
});

test("a server with a certificate of another authority receives no password", async () => {
  await certify("localhost");
  const url = await urlOf(await newAuthority());
  await expect(connect(url)).rejects.toMatchObject({ kind: "unavailable" });
  await expect(migrate({ ...options, url })).rejects.toThrow("certificate");
});

test("the file of authorities is replaced without a restart", async () => {
  await certify("localhost");
  await using database = await open(await urlOf(await newAuthority()));
  await expect(database.query("select")).rejects.toMatchObject({ kind: "unavailable" });
  await urlOf(authority);
  await expect(database.query("select 1 as one")).resolves.toEqual([{ one: 1 }]);
});

test("a server with a certificate for another name receives no password", async () => {
  await certify("postgres.example.com", "127.0.0.1");
  const url = await urlOf(authority);
  await expect(connect(url)).rejects.toMatchObject({ kind: "unavailable" });
  await expect(migrate({ ...options, url })).rejects.toThrow("localhost");
});
