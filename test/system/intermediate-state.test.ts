import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document, upload } from "../stack/http.ts";
import { announcement, inlineState, type StateFile, stateFile } from "../stack/state.ts";
import { errorDetails, newLockedWorkspace, newTeam, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { EDITION: "hosted" } });

const owner = () => fixture().owner.api;
const act = (id: string, action: string) => owner().post(`/workspaces/${id}/actions/${action}`);
const create = (id: string, body: unknown) =>
  owner().post(`/workspaces/${id}/state-versions`, body);
const show = async (versionId: string) =>
  (await owner().get(`/state-versions/${versionId}`)).body.data.attributes;
const currentOf = async (id: string) =>
  (await owner().get(`/workspaces/${id}/current-state-version`)).body.data?.id;

async function pending(id: string, state: StateFile) {
  const { body } = await create(id, announcement(state));
  const finish = () => upload(body.data.attributes["hosted-state-upload-url"], state.bytes);
  return { id: body.data.id as string, finish };
}

async function snapshot(id: string, state: StateFile): Promise<string> {
  const version = await pending(id, state);
  expect((await version.finish()).status).toBe(200);
  return version.id;
}

/** Returns states of one lineage, each with one of these serials. */
function states(...serials: number[]): StateFile[] {
  const { lineage } = stateFile();
  return serials.map((serial) => stateFile({ serial, lineage, resources: serial }));
}

const [one, two, three] = states(1, 2, 3) as [StateFile, StateFile, StateFile];

describe("while the workspace is locked", () => {
  test("a snapshot is shown and listed, and is never current", async () => {
    proves("Versioning/2023-09-25", "State version/intermediate");
    const { organization } = fixture();
    const { id, attributes } = await newLockedWorkspace(fixture());
    const first = await create(id, inlineState(one));
    const second = await snapshot(id, two);
    expect(await show(second)).toMatchObject({ status: "finalized", intermediate: true });
    expect(await currentOf(id)).toBe(first.body.data.id);
    const list = `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${attributes.name}`;
    const { body } = await owner().get(`${list}&filter[status]=finalized`);
    expect(
      body.data.map(
        (data: { attributes: { intermediate: boolean } }) => data.attributes.intermediate,
      ),
    ).toEqual([true, false]);
  });

  test("unlock returns 503 with the text that clients retry on until the newest snapshot is uploaded, then promotes it", async () => {
    proves(
      "State under a lock/unlock while one is not finalized",
      "Workspace lock/locked, unlock by the locker",
      "Workspace lock/locked, unlock, intermediate not finalized",
    );
    const { id } = await newLockedWorkspace(fixture());
    await snapshot(id, one);
    const second = await pending(id, two);
    const refused = await act(id, "unlock");
    expect(refused.status).toBe(503);
    expect(errorDetails(refused)[0]).toContain("latest state version is still pending");
    const shown = await owner().get(`/workspaces/${id}`);
    expect(shown.body.data.attributes.locked).toBe(true);
    expect(await currentOf(id)).toBeUndefined();
    await second.finish();
    expect((await act(id, "unlock")).status).toBe(200);
    expect(await currentOf(id)).toBe(second.id);
    expect(await show(second.id)).toMatchObject({ intermediate: false });
  });

  test("unlock by another user returns 409 and promotes nothing", async () => {
    proves("State under a lock/unlock by another");
    const { id } = await newLockedWorkspace(fixture());
    const newest = await snapshot(id, one);
    const { member: other } = await newTeam(fixture(), ["manage-workspaces"]);
    const refused = await other.api.post(`/workspaces/${id}/actions/unlock`);
    expect(refused.status).toBe(409);
    expect(errorDetails(refused)[0]).toContain(`is locked by User ${fixture().owner.username}`);
    expect(await currentOf(id)).toBeUndefined();
    expect((await other.api.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(200);
    expect(await currentOf(id)).toBe(newest);
  });

  test("unlock and force-unlock of an unlocked workspace return 409", async () => {
    proves(
      "State under a lock/unlock or force-unlock of what is unlocked",
      "Workspace lock/unlocked, unlock",
    );
    const { id } = await newLockedWorkspace(fixture());
    await snapshot(id, one);
    expect((await act(id, "unlock")).status).toBe(200);
    for (const action of ["unlock", "force-unlock"]) {
      const refused = await act(id, action);
      expect(refused.status).toBe(409);
      expect(errorDetails(refused)[0]).toContain("already unlocked");
    }
  });
});

describe("unlock and force-unlock", () => {
  test.each(["unlock", "force-unlock"])(
    "%s: promote the newest of several snapshots, with its outputs and resources",
    async (action) => {
      proves("State under a lock/unlock by the locker");
      const { id } = await newLockedWorkspace(fixture());
      const lineage = one.lineage;
      const outputs = { text: { value: "new", type: "string" } };
      const older = await snapshot(id, one);
      const newest = await snapshot(id, stateFile({ serial: 2, lineage, outputs, resources: 3 }));
      const unlocked = await act(id, action);
      expect(unlocked.status).toBe(200);
      expect(unlocked.body.data.relationships["current-state-version"].data.id).toBe(newest);
      expect(await currentOf(id)).toBe(newest);
      expect(await show(older)).toMatchObject({ status: "finalized", intermediate: true });
      await waitFor(async () => {
        const { body } = await owner().get(`/workspaces/${id}/resources`);
        return body.meta.pagination["total-count"] === 3;
      });
      const listed = await owner().get(`/workspaces/${id}/current-state-version-outputs`);
      expect(listed.body.data).toMatchObject([{ attributes: { value: "new" } }]);
    },
  );

  test("promote no snapshot older than an inline state or a rollback", async () => {
    proves("State under a lock/inline state and rollback");
    const { id } = await newLockedWorkspace(fixture());
    const older = await snapshot(id, one);
    const inline = await create(id, inlineState(two));
    expect(inline.body.data.attributes).toMatchObject({ status: "finalized", intermediate: false });
    expect(await currentOf(id)).toBe(inline.body.data.id);
    await snapshot(id, three);
    const source = { data: { type: "state-versions", id: older } };
    const rolledBack = await owner().patch(
      `/workspaces/${id}/state-versions`,
      document("state-versions", {}, { "rollback-state-version": source }),
    );
    expect(rolledBack.status).toBe(201);
    expect(rolledBack.body.data.attributes.intermediate).toBe(false);
    expect(await currentOf(id)).toBe(rolledBack.body.data.id);
    expect((await act(id, "unlock")).status).toBe(200);
    expect(await currentOf(id)).toBe(rolledBack.body.data.id);
  });

  test("by force promote the last finalized snapshot and discard pending ones", async () => {
    proves("State under a lock/force-unlock");
    const { id } = await newLockedWorkspace(fixture());
    const good = await snapshot(id, one);
    const late = await pending(id, two);
    expect((await act(id, "force-unlock")).status).toBe(200);
    expect(await currentOf(id)).toBe(good);
    expect(await show(late.id)).toMatchObject({ status: "discarded" });
    expect((await late.finish()).status).toBe(409);
  });
});

test("every response about state versions contains the header that requests snapshots", async () => {
  proves(
    "Editions/X-Terraform-Snapshot-Interval",
    "State under a lock/X-Terraform-Snapshot-Interval, hosted edition only",
  );
  const { organization } = fixture();
  const { id, attributes } = await newLockedWorkspace(fixture());
  const created = await create(id, inlineState(one));
  const list = `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${attributes.name}`;
  const source = { data: { type: "state-versions", id: created.body.data.id } };
  const answers = [
    created,
    await owner().get(`/state-versions/${created.body.data.id}`),
    await owner().get(`/workspaces/${id}/current-state-version`),
    await owner().get(list),
    await owner().patch(
      `/workspaces/${id}/state-versions`,
      document("state-versions", {}, { "rollback-state-version": source }),
    ),
  ];
  for (const { status, headers } of answers) {
    expect(status).toBeLessThan(300);
    expect(Number(headers.get("x-terraform-snapshot-interval"))).toBeGreaterThan(0);
  }
});

describe("in the self-hosted edition", () => {
  const selfHosted = useFixture();

  test("an uploaded state is current immediately, and no header requests snapshots", async () => {
    proves(
      "Editions/intermediate",
      "State version/intermediate",
      "State under a lock/X-Terraform-Snapshot-Interval, hosted edition only",
    );
    const { owner: own } = selfHosted();
    const { id } = await newLockedWorkspace(selfHosted());
    const created = await own.api.post(`/workspaces/${id}/state-versions`, announcement(one));
    await upload(created.body.data.attributes["hosted-state-upload-url"], one.bytes);
    const current = await own.api.get(`/workspaces/${id}/current-state-version`);
    expect(current.body.data).toMatchObject({
      id: created.body.data.id,
      attributes: { intermediate: false, status: "finalized" },
    });
    for (const { headers } of [created, current]) {
      expect(headers.has("x-terraform-snapshot-interval")).toBe(false);
    }
  });
});
