import { needs, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download, upload } from "../stack/http.ts";
import { announcement, inlineState, processedVersion, stateFile } from "../stack/state.ts";
import {
  errorDetails,
  type Fixture,
  newLockedWorkspace,
  newProject,
  newTeam,
  newWorkspace,
  recordedApi,
  useFixture,
} from "./fixture.ts";

const actions = {
  softDelete: "soft_delete_backing_data",
  restore: "restore_backing_data",
  permanentlyDelete: "permanently_delete_backing_data",
} as const;

/** Bytes are deleted from the store immediately, so that the tests can observe their deletion. */
const settings = { BLOB_DELETION_DELAY: "0" };

function onStore(fixture: () => Fixture) {
  const act = (id: string, action: keyof typeof actions, { api } = fixture().owner) =>
    api.post(`/state-versions/${id}/actions/${actions[action]}`);
  const shown = async (id: string) =>
    (await fixture().owner.api.get(`/state-versions/${id}`)).body.data;
  const statusOf = async (id: string) => (await shown(id)).attributes.status;

  /** Creates a workspace with two versions. The second is current; the first has raw state and JSON form. */
  async function twoVersions(place?: string) {
    const { owner } = fixture();
    const { id } = place ? await newWorkspace(fixture(), {}, place) : await newWorkspace(fixture());
    await owner.api.post(`/workspaces/${id}/actions/lock`);
    const state = stateFile({ resources: 2, outputs: { o: { value: 1, type: "number" } } });
    const path = `/workspaces/${id}/state-versions`;
    const created = await owner.api.post(path, announcement(state));
    const { attributes } = created.body.data;
    const urls = {
      raw: attributes["hosted-state-upload-url"],
      json: attributes["hosted-json-state-upload-url"],
    };
    expect((await upload(urls.json, '{"a":1}')).status).toBe(200);
    expect((await upload(urls.raw, state.bytes)).status).toBe(200);
    const second = await owner.api.post(
      path,
      inlineState(stateFile({ serial: 2, lineage: state.lineage })),
    );
    expect(second.status).toBe(201);
    await owner.api.post(`/workspaces/${id}/actions/unlock`);
    const first = await processedVersion(owner.api, created.body.data.id);
    return {
      id,
      state,
      urls,
      first: first.id as string,
      second: second.body.data.id as string,
      raw: first.attributes["hosted-state-download-url"] as string,
      json: first.attributes["hosted-json-state-download-url"] as string,
    };
  }

  test("soft-deleted data returns 404 and is unchanged at the same URL after restoration", async () => {
    proves(
      "State version/status: backing_data_soft_deleted, backing_data_permanently_deleted in",
      "State version status/finalized, soft_delete_backing_data, not current",
      "State version status/backing_data_soft_deleted, restore_backing_data",
    );
    const { owner } = fixture();
    const { first, raw, json, state } = await twoVersions();
    const before = await shown(first);
    const outputs = `/state-versions/${first}/outputs`;
    const [output] = (await owner.api.get(outputs)).body.data;
    const deleted = await act(first, "softDelete");
    expect(deleted.status).toBe(200);
    expect(deleted.body.data).toMatchObject({
      id: first,
      attributes: {
        status: "backing_data_soft_deleted",
        "hosted-state-download-url": null,
        ...{ resources: [], modules: {}, providers: {} },
      },
    });
    expect(await statusOf(first)).toBe("backing_data_soft_deleted");
    for (const url of [raw, json]) expect((await download(url, owner.token)).status).toBe(404);
    expect((await owner.api.get(outputs)).status).toBe(404);
    expect((await owner.api.get(`/state-version-outputs/${output.id}`)).status).toBe(404);

    const restored = await act(first, "restore");
    expect(restored.status).toBe(200);
    expect(restored.body.data).toEqual(before);
    expect((await download(raw, owner.token)).bytes.equals(state.bytes)).toBe(true);
    expect((await download(json, owner.token)).bytes.toString()).toBe('{"a":1}');
    expect((await owner.api.get(outputs)).body.data).toEqual([output]);
  });

  test("permanently deleted data cannot be restored; the version and other versions remain", async () => {
    proves(
      "State version/status: backing_data_soft_deleted, backing_data_permanently_deleted in",
      "State version status/backing_data_soft_deleted, permanently_delete_backing_data",
    );
    const { owner } = fixture();
    const { id, first, second, raw } = await twoVersions();
    expect((await act(first, "softDelete")).status).toBe(200);
    const deleted = await act(first, "permanentlyDelete");
    expect(deleted.status).toBe(200);
    expect(deleted.body.data.attributes.status).toBe("backing_data_permanently_deleted");
    for (const action of ["softDelete", "restore", "permanentlyDelete"] as const) {
      expect((await act(first, action)).status).toBe(400);
    }
    expect((await download(raw, owner.token)).status).toBe(404);
    const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
    expect(current.body.data.id).toBe(second);
    const list = await fixture().owner.api.get(
      `/state-versions?filter[organization][name]=${fixture().organization}&filter[workspace][name]=${
        (await owner.api.get(`/workspaces/${id}`)).body.data.attributes.name
      }`,
    );
    expect(
      list.body.data.map(({ attributes }: { attributes: { status: string } }) => attributes.status),
    ).toEqual(["finalized", "backing_data_permanently_deleted"]);
  });

  test("upload URLs of deleted data are refused", async () => {
    proves("Upload/never onto a discarded or deleted version");
    const { first, urls, state } = await twoVersions();
    for (const action of ["softDelete", "permanentlyDelete"] as const) {
      await act(first, action);
      expect((await upload(urls.raw, state.bytes)).status).toBe(409);
      expect((await upload(urls.raw, "other")).status).toBe(409);
      expect((await upload(urls.json, '{"a":1}')).status).toBe(409);
    }
    expect(await statusOf(first)).toBe("backing_data_permanently_deleted");
  });

  test("soft-deleted data is permanently deleted with its bytes after its period", async () => {
    proves("State version status/soft-deleted data is deleted for good after its days");
    const { first, raw } = await twoVersions();
    await act(first, "softDelete");
    const { rows } = fixture().stack;
    const [aged] = await rows<{ blob_key: string }>(
      "state",
      "update state_versions set soft_deleted_at = now() - interval '8 days' where id = $1 returning blob_key",
      [first],
    );
    await waitFor(async () => (await statusOf(first)) === "backing_data_permanently_deleted");
    await waitFor(async () => {
      const left = await rows(
        "state",
        "select key from blobs where key = $1 union all select key from blob_deletions where key = $1",
        [aged?.blob_key],
      );
      return left.length === 0;
    });
    expect((await download(raw, fixture().owner.token)).status).toBe(404);
    expect((await act(first, "restore")).status).toBe(400);
  });

  describe("a transition refused with 400", () => {
    test.each([
      ["soft deletion", "softDelete", "current"],
      ["soft deletion", "softDelete", "pending"],
      ["soft deletion", "softDelete", "discarded"],
      ["soft deletion", "softDelete", "soft-deleted"],
      ["restoration", "restore", "finalized"],
      ["restoration", "restore", "pending"],
      ["restoration", "restore", "discarded"],
      ["permanent deletion", "permanentlyDelete", "current"],
      ["permanent deletion", "permanentlyDelete", "finalized"],
      ["permanent deletion", "permanentlyDelete", "pending"],
    ] as const)("%s (%s) of a version that is %s", async (_, action, which) => {
      proves(
        "State version status/every other transition is 400, with the text that says so",
        "State errors/soft delete, restore, permanently delete",
      );
      const { owner } = fixture();
      const { id, first, second, state } = await twoVersions();
      await owner.api.post(`/workspaces/${id}/actions/lock`);
      const announce = async (serial: number) =>
        (
          await owner.api.post(
            `/workspaces/${id}/state-versions`,
            announcement(stateFile({ serial, lineage: state.lineage })),
          )
        ).body.data.id as string;
      const discarded = await announce(3);
      const pending = await announce(4);
      if (which === "soft-deleted") await act(first, "softDelete");
      const ids = { current: second, finalized: first, "soft-deleted": first, pending, discarded };
      const before = await statusOf(ids[which]);
      const answer = await act(ids[which], action);
      expect(answer.status).toBe(400);
      expect(errorDetails(answer)[0]).toContain("transition not allowed");
      expect(await statusOf(ids[which])).toBe(before);
    });
  });

  test("only owners of the organization may do it; all others get 404", async () => {
    proves(
      "Authentication/9 soft delete, restore, permanently delete",
      "State errors/soft delete, restore, permanently delete",
    );
    const { stack, organization, owner, outsider, url } = fixture();
    const project = await newProject(fixture());
    const { id: teamId, member: admin } = await newTeam(fixture());
    await stack.people.grant({ teamId, projectId: project.id, access: "admin" });
    const { first } = await twoVersions(project.id);
    const made = await owner.api.post(`/organizations/${organization}/authentication-token`);
    const token = { api: recordedApi(url, made.body.data.attributes.token) };
    expect((await admin.api.get(`/state-versions/${first}`)).status).toBe(200);
    expect((await act(first, "softDelete")).status).toBe(200);
    for (const who of [admin, outsider, token] as { api: typeof owner.api }[]) {
      for (const action of ["softDelete", "restore", "permanentlyDelete"] as const) {
        const path = `/state-versions/${first}/actions/${actions[action]}`;
        expect((await who.api.post(path)).status).toBe(404);
      }
    }
    expect((await act("sv-0000000000000000", "softDelete")).status).toBe(404);
    expect(await statusOf(first)).toBe("backing_data_soft_deleted");
  });

  test("a lock is neither required nor an obstacle", async () => {
    proves("State errors/soft delete, restore, permanently delete");
    const { owner } = fixture();
    const { id, first, state } = await twoVersions();
    const locked = await newLockedWorkspace(fixture());
    expect(locked.attributes.locked).toBe(true);
    await owner.api.post(`/workspaces/${id}/actions/lock`);
    const path = `/workspaces/${id}/state-versions`;
    const pending = await owner.api.post(
      path,
      announcement(stateFile({ serial: 3, lineage: state.lineage })),
    );
    expect((await act(first, "softDelete")).status).toBe(200);
    expect((await owner.api.post(`/workspaces/${id}/actions/unlock`)).status).toBe(503);
    expect((await owner.api.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(200);
    expect(await statusOf(pending.body.data.id)).toBe("discarded");
    expect(await statusOf(first)).toBe("backing_data_soft_deleted");
    expect((await act(first, "restore")).status).toBe(200);
  });
}

describe("with bytes in a folder", () => {
  onStore(useFixture({ settings }));
});

needs("minio")("bytes in MinIO", () => {
  onStore(useFixture({ blobs: "minio", settings }));
});

describe("in the hosted edition", () => {
  const fixture = useFixture({ settings: { EDITION: "hosted" } });

  test("the three actions do not exist", async () => {
    proves(
      "Editions/soft delete, restore, permanently delete, and their statuses",
      "State version status/the three actions are the self-hosted edition's",
    );
    const { id } = await newLockedWorkspace(fixture());
    const path = `/workspaces/${id}/state-versions`;
    const { body } = await fixture().owner.api.post(path, inlineState(stateFile()));
    for (const action of Object.values(actions)) {
      const answer = await fixture().owner.api.post(
        `/state-versions/${body.data.id}/actions/${action}`,
      );
      expect(answer.status).toBe(404);
      expect(errorDetails(answer)[0]).toBe("Not found.");
    }
  });
});
