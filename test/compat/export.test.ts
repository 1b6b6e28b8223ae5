import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { needs, temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { type Api, api } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { startStack } from "../stack/stack.ts";
import { expectStatus, inlineState, type StateFile, stateFile } from "../stack/state.ts";
import { storeView } from "../stack/store.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { running, type Start, useNpmStart } from "./npm-start.ts";

const start = useNpmStart();
const exporting = useNpmStart("export");

const lines = async (command: Start, environment: Record<string, string>, ...args: string[]) => {
  const run = command(environment, ...args);
  const code = await run.exit;
  return { code, lines: run.output().trimEnd().split("\n") };
};

/** Creates a workspace with two states; returns the workspace with its current state. */
async function written(client: Api, organization: string, name: string) {
  const { id } = await newWorkspaceIn(client, organization, { name });
  await expectStatus(200, client.post(`/workspaces/${id}/actions/lock`));
  const states = [1, 2].map((serial) => stateFile({ serial, lineage: `lineage-of-${name}` }));
  let versionId = "";
  for (const state of states) {
    const path = `/workspaces/${id}/state-versions`;
    versionId = (await expectStatus(201, client.post(path, inlineState(state)))).body.data.id;
  }
  return { id, name, versionId, state: states[1] as StateFile };
}

const hex = (algorithm: string, bytes: Uint8Array) =>
  createHash(algorithm).update(bytes).digest("hex");

const entryOf = (
  organization: string,
  { id, name, versionId, state }: Awaited<ReturnType<typeof written>>,
) => ({
  file: `${organization}/${name}.tfstate`,
  organization,
  organizationId: expect.stringMatching(/^org-/),
  workspace: name,
  workspaceId: id,
  stateVersionId: versionId,
  serial: 2,
  lineage: `lineage-of-${name}`,
  size: state.bytes.length,
  sha256: hex("sha256", state.bytes),
  md5: hex("md5", state.bytes),
  createdAt: expect.stringMatching(/Z$/),
});

test("a stopped npm start exports every current state, and continues afterwards", {
  timeout: 180_000,
}, async () => {
  await using temporary = await temporaryFolder();
  const environment = { DATA_DIR: path.join(temporary.path, "data"), ORGANIZATION: "acme" };
  const into = path.join(temporary.path, "export");
  expect(await lines(exporting, environment, into)).toEqual({
    code: 1,
    lines: [
      `The folder ${environment.DATA_DIR} has no databases: set DATA_DIR to the data folder, or set DATABASE_URL.`,
    ],
  });
  const started = start(environment);
  const url = await running(started);
  const [, token = ""] = /token +(sth_\S+)/.exec(started.output()) ?? [];
  const client = api(url, token);
  const [one, two] = [
    await written(client, "acme", "network"),
    await written(client, "acme", "nul"),
  ];
  const beside = await lines(exporting, environment, path.join(temporary.path, "beside"));
  expect(beside).toMatchObject({ code: 0 });
  started.signal("SIGTERM");
  await started.exit;

  const exported = await lines(exporting, environment, into);
  const bytes = one.state.bytes.length + two.state.bytes.length;
  expect(exported).toMatchObject({
    code: 0,
    lines: expect.arrayContaining([`2 states, ${bytes} bytes in ${into}`]),
  });
  expect((await readdir(into)).toSorted()).toEqual(["acme", "manifest.json"]);
  const manifest = JSON.parse(await readFile(path.join(into, "manifest.json"), "utf8"));
  const reserved = { ...entryOf("acme", two), file: "acme/%6Eul.tfstate" };
  expect(manifest).toEqual({
    createdAt: expect.stringMatching(/Z$/),
    states: [reserved, entryOf("acme", one)],
    problems: [],
  });
  for (const [file, { state }] of [["network", one] as const, ["%6Eul", two] as const]) {
    const name = path.join(into, "acme", `${file}.tfstate`);
    expect((await readFile(name)).equals(state.bytes)).toBe(true);
    expect((await stat(name)).mode & 0o777).toBe(0o600);
  }
  expect(await lines(exporting, environment, into)).toEqual({
    code: 1,
    lines: [`The folder ${into} is not empty.`],
  });
  await running(start(environment));
});

needs("minio")("an export from databases and a bucket", () => {
  test("names states that are missing or damaged, and writes the others", async () => {
    await using stack = await startStack({ blobs: "minio" });
    const owner = await stack.people.newUser();
    const client = api(stack.url, owner.token);
    const organization = await newOrganization(client);
    const kept = await written(client, organization, "kept");
    const lost = await written(client, organization, "lost");
    const unknown = await written(client, organization, "unknown");
    await stack.rows("state", "update state_versions set sha256 = 'x' where id = $1", [
      lost.versionId,
    ]);
    // Simulates a restore of the workspaces database to a time before `unknown` was created.
    await stack.rows("workspaces", "delete from workspaces where id = $1", [unknown.id]);
    await using temporary = await temporaryFolder();
    const into = path.join(temporary.path, "export");
    const { DATABASE_URL = "", ...store } = stack.environments.state;
    const settings = Object.fromEntries(
      Object.entries(store).filter(([name]) => /^(?:S3_|BLOB_STORE)/.test(name)),
    );
    expect(await lines(exporting, { ...settings, DATABASE_URL }, into)).toEqual({
      code: 1,
      lines: ["WORKSPACES_DATABASE_URL: is required but not set"],
    });
    const WORKSPACES_DATABASE_URL = stack.databases.workspaces;
    const environment = { ...settings, DATABASE_URL, WORKSPACES_DATABASE_URL };
    const { code, lines: printed } = await lines(exporting, environment, into);
    const [key] = (await storeView(stack.environments.state).keys()).filter((one) =>
      one.includes(lost.versionId),
    );
    expect(code).toBe(1);
    expect(printed).toContain(
      `content ${lost.id} ${lost.versionId} ${key}: the size, md5 or sha256 of the bytes in the store differs from the row`,
    );
    expect(printed).toContain("1 states not exported");
    const manifest = JSON.parse(await readFile(path.join(into, "manifest.json"), "utf8"));
    expect(manifest.states).toEqual([
      entryOf(organization, kept),
      {
        ...entryOf(organization, unknown),
        file: `~unknown/${unknown.id}.tfstate`,
        organization: null,
        organizationId: null,
        workspace: null,
      },
    ]);
    expect(manifest.problems).toMatchObject([{ problem: "content", workspaceId: lost.id }]);
    expect((await readdir(path.join(into, organization))).toSorted()).toEqual(["kept.tfstate"]);

    const full = path.join(temporary.path, "full");
    await mkdir(full);
    await writeFile(path.join(full, "x"), "");
    expect((await lines(exporting, environment, full)).lines).toEqual([
      `The folder ${full} is not empty.`,
    ]);
    expect((await lines(exporting, environment)).lines).toEqual([
      "The only argument must be the folder of the export.",
    ]);
  });
});
