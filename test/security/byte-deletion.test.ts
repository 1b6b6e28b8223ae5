import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { organizationId } from "../stack/organization.ts";
import { expectStatus, inlineState, stateFile } from "../stack/state.ts";
import { storeView } from "../stack/store.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { newLockedWorkspace, useFixture } from "../system/fixture.ts";

// The fixture uses the default of `BLOB_DELETION_DELAY`, seven days.
const fixture = useFixture({ blobs: "directory" });

const DAY_MS = 86_400_000;

const keysOf = async (workspaceId: string) =>
  (await storeView(fixture().stack.environments.state).keys()).filter((key) =>
    key.startsWith(`${workspaceId}/`),
  );

/** Creates a workspace with `count` states. */
async function written(count: number): Promise<{ id: string; versions: string[] }> {
  const { id } = await newLockedWorkspace(fixture());
  const versions: string[] = [];
  for (let serial = 1; serial <= count; serial++) {
    const state = inlineState(stateFile({ serial, lineage: id }));
    const path = `/workspaces/${id}/state-versions`;
    const { body } = await expectStatus(201, fixture().owner.api.post(path, state));
    versions.push(body.data.id);
  }
  await expectStatus(200, fixture().owner.api.post(`/workspaces/${id}/actions/unlock`));
  expect(await keysOf(id)).toHaveLength(count);
  return { id, versions };
}

interface Due {
  key: string;
  due_at: Date;
}

/** Returns the keys whose bytes will be deleted, each with the time of the deletion. */
const waiting = (workspaceId: string) =>
  fixture().stack.rows<Due>(
    "state",
    "select key, due_at from blob_deletions where starts_with(key, $1)",
    [`${workspaceId}/`],
  );

const inSevenDays = { after: 7 * DAY_MS - 60_000, before: 7 * DAY_MS + 60_000 };

const expectInSevenDays = (due: readonly Due[]) => {
  for (const { due_at: at } of due) {
    const left = at.getTime() - Date.now();
    expect(left).toBeGreaterThan(inSevenDays.after);
    expect(left).toBeLessThan(inSevenDays.before);
  }
};

test("a deleted workspace is unreadable at once, and its bytes remain for the delay", async () => {
  const { id } = await written(2);
  const keys = await keysOf(id);
  await expectStatus(204, fixture().owner.api.delete(`/workspaces/${id}`));
  await expectStatus(404, fixture().owner.api.get(`/workspaces/${id}/current-state-version`));
  const purged = async () => {
    const rows = await fixture().stack.rows("state", "select from blobs where workspace_id = $1", [
      id,
    ]);
    return rows.length === 0;
  };
  await waitFor(purged);
  const due = await waiting(id);
  expect(due.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  expectInSevenDays(due);
  expect(await keysOf(id)).toEqual(keys);
});

test("bytes that an owner deletes permanently are removed at once, and the store's list of permanent deletions names their key", async () => {
  const { id, versions } = await written(2);
  const [first = ""] = versions;
  const act = (action: string) =>
    expectStatus(200, fixture().owner.api.post(`/state-versions/${first}/actions/${action}`));
  const [key = ""] = (await keysOf(id)).filter((one) => one.includes(first));
  await act("soft_delete_backing_data");
  await act("permanently_delete_backing_data");
  await waitFor(async () => !(await keysOf(id)).includes(key));
  expect(await keysOf(id)).toHaveLength(1);
  expect(await storeView(fixture().stack.environments.state).list()).toEqual([key]);
  await waitFor(async () => (await waiting(id)).length === 0);
});

test("a deleted organization leaves its bytes for the delay", async () => {
  const organization = await fixture().owner.api.post("/organizations", {
    data: {
      type: "organizations",
      attributes: { name: `gone-${Date.now()}`, email: "a@b.example" },
    },
  });
  const name = organization.body.data.id;
  expect(await organizationId(fixture().stack, name)).not.toBe("");
  const { id } = await newWorkspaceIn(fixture().owner.api, name);
  await expectStatus(200, fixture().owner.api.post(`/workspaces/${id}/actions/lock`));
  const state = inlineState(stateFile({ serial: 1, lineage: id }));
  await expectStatus(201, fixture().owner.api.post(`/workspaces/${id}/state-versions`, state));
  const keys = await keysOf(id);
  await expectStatus(204, fixture().owner.api.delete(`/organizations/${name}`));
  await waitFor(async () => (await waiting(id)).length === keys.length);
  expectInSevenDays(await waiting(id));
  expect(await keysOf(id)).toEqual(keys);
});
