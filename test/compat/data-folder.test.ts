import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { databaseOf } from "@statehouse/standalone/running-database";
import { type TemporaryFolder, temporaryFolder, waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { api, download, upload } from "../stack/http.ts";
import { expectStatus, inlineState, stateFile } from "../stack/state.ts";
import { running, useNpmStart } from "./npm-start.ts";

/** What Statehouse at commit f307d11 returned when the golden data folder was made; `<url>` is the server's address. */
interface Expected {
  token: string;
  secrets: { team: string; organization: string };
  ids: Record<string, string>;
  upload: { url: string; bytes: string };
  documents: Record<string, { status: number; body: object }>;
  states: Record<string, string>;
}

const golden = path.resolve(import.meta.dirname, "../golden/data-folder-f307d11");
const start = useNpmStart();

let folder: TemporaryFolder;
let expected: Expected;
beforeAll(async () => {
  folder = await temporaryFolder();
  expected = JSON.parse(await readFile(path.join(golden, "expected.json"), "utf8"));
  const archive = zstdDecompressSync(await readFile(path.join(golden, "data.tar.zst")));
  await mkdir(folder.path, { recursive: true });
  execFileSync("tar", ["-x", "--no-same-owner", "-C", folder.path], { input: archive });
  if (process.getuid?.() === 0) {
    // PostgreSQL refuses to run as root. It is started as the owner of its folder, so the folder gets another owner
    // here.
    spawnSync("chown", ["-R", "nobody", path.join(folder.path, "data/postgres/cluster")]);
  }
});
afterAll(() => folder[Symbol.asyncDispose]());

test("the current version reads, writes and locks a data folder of commit f307d11", async () => {
  const dataDirectory = path.join(folder.path, "data");
  const started = start({
    DATA_DIR: dataDirectory,
    ORGANIZATION: "acme",
    // Ten years, so that the upload that was pending when the folder was created is still pending.
    PENDING_WINDOW: "315360000",
  });
  const url = await running(started);
  const owner = api(url, expected.token);
  const { ids } = expected;

  for (const [at, { status, body }] of Object.entries(expected.documents)) {
    const answer = await owner.get(at);
    const shown = JSON.parse(JSON.stringify(answer.body).replaceAll(url, "<url>"));
    expect({ at, status: answer.status, body: shown }).toMatchObject({ at, status, body });
  }
  for (const [name, bytes] of Object.entries(expected.states)) {
    const [id, link = ""] = name.split(" ");
    const { body } = await owner.get(`/state-versions/${id}`);
    const content = await download(body.data.attributes[link], expected.token);
    expect(content.bytes.equals(Buffer.from(bytes, "base64")), name).toBe(true);
  }
  const workspace = `/workspaces/${ids.workspace}`;
  expect((await api(url, expected.secrets.team).get(workspace)).status).toBe(200);
  expect((await api(url, expected.secrets.organization).get(workspace)).status).toBe(200);

  // Pending events in the outbox are published, and dead letters are kept.
  const database = new Client({ connectionString: databaseOf(dataDirectory, "workspaces") });
  await database.connect();
  try {
    await waitFor(
      async () => (await database.query("select from outbox")).rowCount === 0 || undefined,
      { what: "the outbox to be published" },
    );
    expect((await database.query("select from dead_letters")).rowCount).toBe(1);

    // Each service now connects as a separate database user, although the superuser still owns all tables.
    const sessions = await database.query(
      `select distinct datname, usename from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid() order by datname`,
    );
    const names = ["statehouse_access", "statehouse_state", "statehouse_workspaces"];
    expect(sessions.rows).toEqual(names.map((name) => ({ datname: name, usename: name })));
    const rights = await database.query(
      `select rolname, rolsuper, rolcreatedb, rolcreaterole,
         has_database_privilege(rolname, current_database(), 'connect') as connects,
         has_database_privilege(rolname, 'postgres', 'connect') as administers,
         has_table_privilege(rolname, 'outbox', 'delete') as writes,
         has_schema_privilege(rolname, 'public', 'create') as creates
       from pg_roles where rolname = any($1) order by rolname`,
      [names],
    );
    const none = { rolsuper: false, rolcreatedb: false, rolcreaterole: false, administers: false };
    expect(rights.rows).toEqual(
      names.map((rolname) => {
        const own = rolname === "statehouse_workspaces";
        return { ...none, rolname, connects: own, writes: own, creates: false };
      }),
    );
  } finally {
    await database.end();
  }

  // The pending upload can be finished with its old URL.
  const pending = Buffer.from(expected.upload.bytes, "base64");
  const uploaded = await upload(expected.upload.url.replace("<url>", url), pending);
  expect(uploaded.status).toBe(200);
  await expectStatus(200, owner.post(`/workspaces/${ids.pendingWorkspace}/actions/unlock`));
  const current = await expectStatus(
    200,
    owner.get(`/workspaces/${ids.pendingWorkspace}/current-state-version`),
  );
  expect(current.body.data.id).toBe(ids.pendingVersion);

  // The lock that was held is released. Under a new lock, a state can be written and read.
  await expectStatus(200, owner.post(`/workspaces/${ids.other}/actions/unlock`));
  await expectStatus(200, owner.post(`${workspace}/actions/lock`));
  const { lineage, serial } = JSON.parse(
    Buffer.from(
      expected.states[`${ids.version2} hosted-state-download-url`] ?? "",
      "base64",
    ).toString(),
  );
  const next = stateFile({ lineage, serial: serial + 1 });
  const created = await expectStatus(
    201,
    owner.post(`${workspace}/state-versions`, inlineState(next)),
  );
  await expectStatus(200, owner.post(`${workspace}/actions/unlock`));
  const written = await download(
    created.body.data.attributes["hosted-state-download-url"],
    expected.token,
  );
  expect(written.bytes.equals(next.bytes)).toBe(true);

  started.signal("SIGTERM");
  expect(await started.exit).toBe(0);
});
