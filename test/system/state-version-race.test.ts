import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { upload } from "../stack/http.ts";
import { announcement, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, useFixture } from "./fixture.ts";

// Even with concurrent requests, a confirmed state is always stored, and a state that was not confirmed never appears.

const fixture = useFixture();
const ROUNDS = 10;

const act = (id: string, action: string) =>
  fixture().owner.api.post(`/workspaces/${id}/actions/${action}`);
const statusOf = async (versionId: string) =>
  (await fixture().owner.api.get(`/state-versions/${versionId}`)).body.data.attributes.status;
const currentOf = async (id: string) =>
  (await fixture().owner.api.get(`/workspaces/${id}/current-state-version`)).status;

async function pending() {
  const { id } = await newLockedWorkspace(fixture());
  const state = stateFile();
  const created = await fixture().owner.api.post(
    `/workspaces/${id}/state-versions`,
    announcement(state),
  );
  const { id: versionId, attributes } = created.body.data;
  const put = () => upload(attributes["hosted-state-upload-url"], state.bytes);
  return { id: id as string, versionId: versionId as string, put };
}

test("an upload and a force-unlock: the version is finalized and current, or discarded", async () => {
  proves("State under a lock/force-unlock");
  for (let round = 0; round < ROUNDS; round++) {
    const { id, versionId, put } = await pending();
    const [uploaded, unlocked] = await Promise.all([put(), act(id, "force-unlock")]);
    expect(unlocked.status).toBe(200);
    expect([uploaded.status, await statusOf(versionId), await currentOf(id)]).toEqual(
      uploaded.status === 200 ? [200, "finalized", 200] : [409, "discarded", 404],
    );
  }
});

test("an upload and an unlock: the unlock waits for the upload, which is never lost", async () => {
  proves("State version creation rules/no late write slips through a lock that was given back");
  for (let round = 0; round < ROUNDS; round++) {
    const { id, versionId, put } = await pending();
    const [uploaded, unlocked] = await Promise.all([put(), act(id, "unlock")]);
    expect(uploaded.status).toBe(200);
    expect([200, 503]).toContain(unlocked.status);
    expect([await statusOf(versionId), await currentOf(id)]).toEqual(["finalized", 200]);
  }
});

test("an upload and a force-delete: nothing can be read afterwards", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { id, versionId, put } = await pending();
    const [uploaded, deleted] = await Promise.all([
      put(),
      fixture().owner.api.delete(`/workspaces/${id}`),
    ]);
    expect(deleted.status).toBe(204);
    expect([200, 404, 409]).toContain(uploaded.status);
    expect((await fixture().owner.api.get(`/state-versions/${versionId}`)).status).toBe(404);
  }
});

test("a creation and a force-unlock: no version of the released lock remains pending", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = await newLockedWorkspace(fixture());
    const [created, unlocked] = await Promise.all([
      fixture().owner.api.post(`/workspaces/${id}/state-versions`, announcement(stateFile())),
      act(id, "force-unlock"),
    ]);
    expect(unlocked.status).toBe(200);
    expect([201, 409, 412]).toContain(created.status);
    if (created.status === 201) expect(await statusOf(created.body.data.id)).toBe("discarded");
    expect((await act(id, "lock")).status).toBe(200);
    expect((await act(id, "unlock")).status).toBe(200);
  }
});
