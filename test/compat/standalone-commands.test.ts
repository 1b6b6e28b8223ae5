import path from "node:path";
import { databaseOf } from "@statehouse/standalone/running-database";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { Client } from "pg";
import { expect, test } from "vitest";
import { api, document, download } from "../stack/http.ts";
import { expectStatus, inlineState, stateFile } from "../stack/state.ts";
import { running, type Start, useNpmStart } from "./npm-start.ts";

const start = useNpmStart();
const collect = useNpmStart("collect");
const fsck = useNpmStart("fsck");

test("beside npm start, collect lists and deletes due versions, and fsck finds no problems", {
  timeout: 120_000,
}, async () => {
  proves("Data retention/a dry run deletes nothing", "Object store/fsck on a live system");
  await using folder = await temporaryFolder();
  const environment = {
    DATA_DIR: path.join(folder.path, "data"),
    ORGANIZATION: "acme",
    BLOB_DELETION_DELAY: "0",
  };
  const lines = async (command: Start, ...args: string[]) => {
    const run = command(environment, ...args);
    const code = await run.exit;
    return { code, lines: run.output().trimEnd().split("\n") };
  };
  expect(await lines(collect, "--dry-run")).toEqual({
    code: 1,
    lines: [
      `No npm start runs on the data folder ${environment.DATA_DIR}: start it first, or set DATABASE_URL.`,
    ],
  });

  const started = start(environment);
  const url = await running(started);
  const [, token = ""] = /token +(sth_\S+)/.exec(started.output()) ?? [];
  const client = api(url, token);
  const made = client.post("/organizations/acme/workspaces", document("workspaces", { name: "w" }));
  const { id } = (await expectStatus(201, made)).body.data;
  await expectStatus(200, client.post(`/workspaces/${id}/actions/lock`));
  const { lineage } = stateFile();
  const versions: { id: string; size: number; url: string }[] = [];
  for (const serial of [1, 2, 3]) {
    const body = inlineState(stateFile({ serial, lineage }));
    const created = client.post(`/workspaces/${id}/state-versions`, body);
    const { data } = (await expectStatus(201, created)).body;
    const { size, "hosted-state-download-url": at } = data.attributes;
    versions.push({ id: data.id, size, url: at });
  }
  await using database = await connected(databaseOf(environment.DATA_DIR, "state"));
  await database.query("update state_versions set created_at = created_at - interval '31 days'");
  const older = document("data-retention-policy-delete-olders", { "delete-older-than-n-days": 30 });
  const policy = `/workspaces/${id}/relationships/data-retention-policy`;
  await expectStatus(200, client.post(policy, older));

  const due = versions.slice(0, 2);
  const sum = due.reduce((bytes, { size }) => bytes + size, 0);
  const dry = await lines(collect, "--dry-run");
  expect(dry).toEqual({
    code: 0,
    lines: [
      ...due.map((version) =>
        expect.stringMatching(
          new RegExp(`^${id} ${version.id} \\S+Z ${version.size} bytes, policy$`),
        ),
      ),
      `would delete 2 versions, ${sum} bytes of state`,
    ],
  });
  const statuses = () =>
    Promise.all(versions.map(async (version) => (await download(version.url, token)).status));
  expect(await statuses()).toEqual([200, 200, 200]);

  const collected = await lines(collect);
  expect(collected.code).toBe(0);
  expect(collected.lines.at(-1)).toBe(`deleted 2 versions, ${sum} bytes of state in total`);
  expect(await statuses()).toEqual([404, 404, 200]);
  await waitFor(async () => (await database.query("select from blob_deletions")).rows.length === 0);
  expect(await lines(fsck)).toMatchObject({
    code: 0,
    lines: expect.arrayContaining(["no problems found"]),
  });
});

async function connected(connectionString: string) {
  const client = new Client({ connectionString });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
