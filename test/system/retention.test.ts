import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, expect, test } from "vitest";
import { document, download } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { expectStatus, inlineState, stateFile } from "../stack/state.ts";
import { type StoreView, storeView } from "../stack/store.ts";
import { newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { COLLECTION_INTERVAL: "1", BLOB_DELETION_DELAY: "0" } });
let store: StoreView;
beforeAll(() => {
  store = storeView(fixture().stack.environments.state);
});

const older = (days: number) =>
  document("data-retention-policy-delete-olders", { "delete-older-than-n-days": days });
const never = document("data-retention-policy-dont-deletes", {});

/** Creates a workspace with three versions that are `days` old; the third is current. */
async function written(organization: string, days: number) {
  const { api } = fixture().owner;
  const { id } = await newWorkspace({ ...fixture(), organization });
  await expectStatus(200, api.post(`/workspaces/${id}/actions/lock`));
  const { lineage } = stateFile();
  const versions: string[] = [];
  for (const serial of [1, 2, 3]) {
    const state = stateFile({ serial, lineage, outputs: { o: { value: serial, type: "number" } } });
    const path = `/workspaces/${id}/state-versions`;
    versions.push((await expectStatus(201, api.post(path, inlineState(state)))).body.data.id);
  }
  await fixture().stack.rows(
    "state",
    `update state_versions set created_at = created_at - $2 * interval '1 day'
     where workspace_id = $1`,
    [id, days],
  );
  return { id, versions, policy: `/workspaces/${id}/relationships/data-retention-policy` };
}

const shown = async (id: string) =>
  (await fixture().owner.api.get(`/state-versions/${id}`)).body.data;
const statuses = (versions: readonly string[]) =>
  Promise.all(versions.map(async (id) => (await shown(id)).attributes.status));
const collected = (versions: readonly string[]) =>
  waitFor(async () => (await statuses(versions))[0] === GONE);

const GONE = "backing_data_permanently_deleted";
const all = [GONE, GONE, "finalized"];
const none = ["finalized", "finalized", "finalized"];

test("versions that a workspace's policy deletes cannot be read, and their bytes are deleted; the current state remains", async () => {
  proves("Data retention/delete-older-than-n-days");
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const { id, versions, policy } = await written(organization, 31);
  const [first = ""] = versions;
  const url = (await shown(first)).attributes["hosted-state-download-url"];
  expect((await download(url, owner.token)).status).toBe(200);
  await expectStatus(200, owner.api.post(policy, older(30)));
  await collected(versions);
  expect(await statuses(versions)).toEqual(all);
  expect((await download(url, owner.token)).status).toBe(404);
  expect((await owner.api.get(`/state-versions/${first}/outputs`)).status).toBe(404);
  const restore = `/state-versions/${first}/actions/restore_backing_data`;
  expect((await owner.api.post(restore)).status).toBe(400);
  const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
  expect(current.body.data.id).toBe(versions[2]);
  await waitFor(async () => (await store.keys()).filter((key) => key.includes(id)).length === 1);
});

test("a workspace's own policy takes precedence over its organization's, and that over the site's", async () => {
  proves("Data retention/policies of workspace, organization");
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const [kept, young, due] = [
    await written(organization, 31),
    await written(organization, 31),
    await written(organization, 31),
  ];
  await expectStatus(200, owner.api.post(kept.policy, never));
  await expectStatus(200, owner.api.post(young.policy, older(32)));
  const shared = `/organizations/${organization}/relationships/data-retention-policy`;
  await expectStatus(200, owner.api.post(shared, older(30)));
  await collected(due.versions);
  // The collector processes all three workspaces as one page, so it has processed the other two when `due` is
  // collected.
  expect(await statuses(due.versions)).toEqual(all);
  expect(await statuses(kept.versions)).toEqual(none);
  expect(await statuses(young.versions)).toEqual(none);
  await expectStatus(204, owner.api.delete(young.policy));
  await collected(young.versions);
  expect(await statuses(young.versions)).toEqual(all);
  expect(await statuses(kept.versions)).toEqual(none);
});
