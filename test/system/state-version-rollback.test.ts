import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download, upload } from "../stack/http.ts";
import {
  announcement,
  inlineState,
  processedVersion,
  rollbackTo,
  type StateFile,
  stateFile,
} from "../stack/state.ts";
import {
  errorDetails,
  newLockedWorkspace,
  newUser,
  newWorkspace,
  problems,
  recordedApi,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

const versionsOf = (id: string) => `/workspaces/${id}/state-versions`;
const rollBack = (id: string, to: string, { api } = fixture().owner) =>
  api.patch(versionsOf(id), rollbackTo(to));
const act = (id: string, action: string) =>
  fixture().owner.api.post(`/workspaces/${id}/actions/${action}`);

async function write(id: string, state: StateFile, attributes = {}) {
  const answer = await fixture().owner.api.post(versionsOf(id), inlineState(state, attributes));
  expect(answer.status).toBe(201);
  return answer.body.data;
}

/** Creates a locked workspace with two versions; the first has an output, resources and a JSON form. */
async function twoVersions() {
  const { id } = await newLockedWorkspace(fixture());
  const outputs = { secret: { value: "kept", type: "string", sensitive: true } };
  const state = stateFile({ serial: 4, resources: 2, outputs });
  const json = Buffer.from('{"format_version":"1.0"}').toString("base64");
  const first = await write(id, state, { "json-state": json });
  const second = await write(id, stateFile({ serial: 5, lineage: state.lineage }));
  await processedVersion(fixture().owner.api, first.id);
  return { id, state, first, second };
}

test("a rollback creates a copy with a new serial that becomes current immediately, byte for byte", async () => {
  proves("Versioning/2023-01-12", "Rollback/PATCH");
  const { owner } = fixture();
  const { id, state, first } = await twoVersions();
  const answer = await rollBack(id, first.id);
  expect(answer.status).toBe(201);
  const { data } = answer.body;
  expect(data.id).not.toBe(first.id);
  expect(data.attributes).toMatchObject({
    serial: 6,
    status: "finalized",
    intermediate: false,
    md5: state.md5,
    lineage: state.lineage,
    "resources-processed": true,
    "hosted-state-upload-url": null,
    "hosted-json-state-upload-url": null,
  });
  expect(data.attributes.resources).toHaveLength(2);
  expect(data.relationships).toMatchObject({
    "rollback-state-version": { data: { type: "state-versions", id: first.id } },
    "created-by": { data: { type: "users", id: owner.id } },
  });
  const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
  expect(current.body.data).toEqual(data);
  expect((await act(id, "unlock")).status).toBe(200);
  expect((await owner.api.get(`/workspaces/${id}`)).body.data.attributes["resource-count"]).toBe(2);

  const kept = await download(data.attributes["hosted-state-download-url"], owner.token);
  expect(kept.bytes.equals(state.bytes)).toBe(true);
  const json = await download(data.attributes["hosted-json-state-download-url"], owner.token);
  expect(json.bytes.toString()).toBe('{"format_version":"1.0"}');
  const outputs = await owner.api.get(`/state-versions/${data.id}/outputs`);
  const output = await owner.api.get(`/state-version-outputs/${outputs.body.data[0].id}`);
  expect(output.body.data.attributes.value).toBe("kept");
});

test("a state may follow a rollback, and a rollback follows a pending state, which it discards", async () => {
  proves("Rollback/what is pending is discarded; a repeat answers the same copy");
  const { owner } = fixture();
  const { id, first, state } = await twoVersions();
  const pending = await owner.api.post(
    versionsOf(id),
    announcement(stateFile({ serial: 6, lineage: state.lineage })),
  );
  const copy = await rollBack(id, first.id);
  expect(copy.body.data.attributes.serial).toBe(7);
  const discarded = await owner.api.get(`/state-versions/${pending.body.data.id}`);
  expect(discarded.body.data.attributes.status).toBe("discarded");
  const late = await upload(pending.body.data.attributes["hosted-state-upload-url"], state.bytes);
  expect(late.status).toBe(409);
  expect((await act(id, "unlock")).status).toBe(200);
  // The engine continues with the serial in the downloaded file.
  expect((await act(id, "lock")).status).toBe(200);
  await write(id, stateFile({ serial: 5, lineage: state.lineage, marker: "next" }));
});

test("a repeated request returns the same copy", async () => {
  proves("Rollback/what is pending is discarded; a repeat answers the same copy");
  const { id, first } = await twoVersions();
  const answers = await Promise.all([1, 2, 3].map(() => rollBack(id, first.id)));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
});

describe("a rollback is refused", () => {
  test("without the caller's lock: 409", async () => {
    proves("Rollback/locked by the caller");
    const { owner, organization } = fixture();
    const { id, first } = await twoVersions();
    await act(id, "unlock");
    const unlocked = await rollBack(id, first.id);
    expect(unlocked.status).toBe(409);
    expect(errorDetails(unlocked)[0]).toContain("must be locked by you");
    const other = await newUser(fixture().stack);
    const email = `${other.username}@example.com`;
    const teams = await owner.api.get(`/organizations/${organization}/teams?filter[names]=owners`);
    const invited = await owner.api.post(
      `/organizations/${organization}/organization-memberships`,
      {
        data: {
          type: "organization-memberships",
          attributes: { email },
          relationships: { teams: { data: [{ type: "teams", id: teams.body.data[0].id }] } },
        },
      },
    );
    await other.api.post(`/organization-memberships/${invited.body.data.id}/actions/accept`);
    expect((await other.api.post(`/workspaces/${id}/actions/lock`)).status).toBe(200);
    const foreign = await rollBack(id, first.id);
    expect(foreign.status).toBe(409);
    expect(errorDetails(foreign)[0]).toContain("is locked by User");
    expect((await rollBack(id, first.id, other)).status).toBe(201);
  });

  test("to a version without contents: 409", async () => {
    proves("Rollback/not to a version without contents");
    const { owner } = fixture();
    const { id, first, state } = await twoVersions();
    await owner.api.post(`/state-versions/${first.id}/actions/soft_delete_backing_data`);
    expect((await rollBack(id, first.id)).status).toBe(409);
    const pending = await owner.api.post(
      versionsOf(id),
      announcement(stateFile({ serial: 6, lineage: state.lineage })),
    );
    expect((await rollBack(id, pending.body.data.id)).status).toBe(409);
  });

  test("to another workspace's version: 422, and 404 for callers who may not read it", async () => {
    proves("Rollback/not across workspaces");
    const { reader } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const elsewhere = await twoVersions();
    const answer = await rollBack(id, elsewhere.first.id);
    expect(answer.status).toBe(422);
    expect(problems(answer)).toEqual({
      "/data/relationships/rollback-state-version":
        "Rollback state version belongs to another workspace",
    });
    expect((await rollBack(elsewhere.id, elsewhere.first.id, reader)).status).toBe(404);
  });

  test("with a body that does not name a version: 422", async () => {
    proves("Rollback/rollback-state-version.data.id", "State errors/rollback");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    for (const relationships of [
      undefined,
      {},
      { "rollback-state-version": { data: { type: "state-versions" } } },
      { "rollback-state-version": { data: { type: "runs", id: "run-1" } } },
    ]) {
      const body = { data: { type: "state-versions", relationships } };
      const answer = await owner.api.patch(versionsOf(id), body);
      expect(answer.status).toBe(422);
      expect(Object.keys(problems(answer))[0]).toContain("/data/relationships/rollback");
    }
    const typed = { data: { ...rollbackTo("sv-1").data, type: "workspaces" } };
    expect((await owner.api.patch(versionsOf(id), typed)).status).toBe(422);
  });

  test("if version or workspace does not exist or the caller may not write: 404", async () => {
    proves("Authentication/7 create state version, rollback", "State errors/rollback");
    const { owner, reader, outsider, readable } = fixture();
    const { id, first } = await twoVersions();
    expect((await rollBack(id, "sv-0000000000000000")).status).toBe(404);
    expect((await rollBack("ws-0000000000000000", first.id)).status).toBe(404);
    expect((await rollBack(id, first.id, outsider)).status).toBe(404);
    const workspace = await newWorkspace(fixture(), {}, readable.id);
    await act(workspace.id, "lock");
    const version = await write(workspace.id, stateFile());
    expect((await reader.api.get(`/state-versions/${version.id}`)).status).toBe(200);
    expect((await rollBack(workspace.id, version.id, reader)).status).toBe(404);
    const own = await newWorkspace({ organization: outsider.organization, owner: outsider });
    await outsider.api.post(`/workspaces/${own.id}/actions/lock`);
    // Another tenant tries to roll back its own workspace to a version of this workspace.
    expect((await rollBack(own.id, version.id, outsider)).status).toBe(404);
    expect((await owner.api.get(`/state-versions/${version.id}`)).status).toBe(200);
  });

  test("with an organization token: 404", async () => {
    proves(
      "Authentication/7 create state version, rollback",
      "Rollback/not with an organization's token",
    );
    const { owner, organization, url } = fixture();
    const { id, first } = await twoVersions();
    const made = await owner.api.post(`/organizations/${organization}/authentication-token`);
    expect(made.status).toBe(201);
    const api = recordedApi(url, made.body.data.attributes.token);
    expect((await api.get(`/state-versions/${first.id}`)).status).toBe(200);
    expect((await api.patch(versionsOf(id), rollbackTo(first.id))).status).toBe(404);
  });
});
