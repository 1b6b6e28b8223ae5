import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { download } from "../stack/http.ts";
import { announcement, processedVersion, stateFile, writeState } from "../stack/state.ts";
import {
  errorDetails,
  newLockedWorkspace,
  newProject,
  newTeam,
  newWorkspace,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

const safeDelete = (id: string) =>
  fixture().owner.api.post(`/workspaces/${id}/actions/safe-delete`);
const byName = (name: string) => `/organizations/${fixture().organization}/workspaces/${name}`;

async function withState(state = stateFile()) {
  const { owner } = fixture();
  const workspace = await newWorkspace(fixture());
  const { body } = await writeState(owner.api, workspace.id, state);
  await processedVersion(owner.api, body.data.id);
  return { workspace, version: body.data };
}

/** Safely deletes the workspace, and repeats the request until its state is extracted. */
const settled = (id: string) =>
  waitFor(async () => {
    const answer = await safeDelete(id);
    const processing =
      answer.status === 409 && /being processed/.test(errorDetails(answer)[0] ?? "");
    return processing ? undefined : answer;
  });

test("an empty workspace can be safely deleted by id and by name, and its name is free", async () => {
  proves("Versioning/2022-12-22", "Workspace endpoints/POST actions/safe-delete by id and by name");
  const { owner } = fixture();
  const [one, other] = [await newWorkspace(fixture()), await newWorkspace(fixture())];
  expect((await safeDelete(one.id)).status).toBe(204);
  const named = byName(other.attributes.name);
  expect((await owner.api.post(`${named}/actions/safe-delete`)).status).toBe(204);
  for (const { id, attributes } of [one, other]) {
    expect((await owner.api.get(`/workspaces/${id}`)).status).toBe(404);
    expect((await owner.api.get(byName(attributes.name))).status).toBe(404);
    expect((await safeDelete(id)).status).toBe(404);
    const again = await newWorkspace(fixture(), { name: attributes.name });
    expect(again.id).not.toBe(id);
  }
});

test("a locked workspace is refused, and the text names the holder of the lock", async () => {
  proves("Workspace errors/safe delete");
  const { owner } = fixture();
  const { id, attributes } = await newLockedWorkspace(fixture());
  for (const path of [`/workspaces/${id}`, byName(attributes.name)]) {
    const answer = await owner.api.post(`${path}/actions/safe-delete`);
    expect(answer.status).toBe(409);
    const [detail] = errorDetails(answer);
    expect(detail).toContain("locked");
    expect(detail).toContain(owner.username);
    expect(detail).not.toContain("being processed");
  }
  expect((await owner.api.post(`/workspaces/${id}/actions/unlock`)).status).toBe(200);
  expect((await safeDelete(id)).status).toBe(204);
});

test("a workspace that manages resources is refused, and the text names their number and no lock", async () => {
  proves("Workspace errors/safe delete");
  const { workspace } = await withState(stateFile({ resources: 3 }));
  const answer = await settled(workspace.id);
  expect(answer.status).toBe(409);
  const [detail] = errorDetails(answer);
  expect(detail).toContain("3 resources");
  expect(detail).not.toMatch(/locked|being processed/);
  const { owner } = fixture();
  const shown = await owner.api.get(`/workspaces/${workspace.id}`);
  expect(shown.body.data.attributes.locked).toBe(false);
  // A refused deletion releases its lock.
  expect((await owner.api.post(`/workspaces/${workspace.id}/actions/lock`)).status).toBe(200);
});

test("a workspace whose state no longer manages resources is deleted", async () => {
  proves("Workspace endpoints/POST actions/safe-delete by id and by name");
  const { owner } = fixture();
  const first = stateFile({ resources: 2 });
  const { workspace } = await withState(first);
  await writeState(owner.api, workspace.id, stateFile({ serial: 2, lineage: first.lineage }));
  expect((await settled(workspace.id)).status).toBe(204);
});

test("nothing of a deleted workspace can be read", async () => {
  const { owner } = fixture();
  const state = stateFile({ outputs: { a: { value: 1, type: "number" } } });
  const { workspace, version } = await withState(state);
  const outputs = await owner.api.get(`/state-versions/${version.id}/outputs`);
  const url = version.attributes["hosted-state-download-url"];
  expect((await download(url, owner.token)).status).toBe(200);
  expect((await settled(workspace.id)).status).toBe(204);
  expect((await download(url, owner.token)).status).toBe(404);
  for (const path of [
    `/state-versions/${version.id}`,
    `/state-versions/${version.id}/outputs`,
    `/state-version-outputs/${outputs.body.data[0].id}`,
    `/workspaces/${workspace.id}/current-state-version`,
    `/workspaces/${workspace.id}/current-state-version-outputs`,
  ]) {
    expect((await owner.api.get(path)).status, path).toBe(404);
  }
});

test("an owner may force-delete it, regardless of its resources and lock", async () => {
  proves("Authentication/5 force delete", "Workspace endpoints/DELETE by id and by name");
  const { owner } = fixture();
  const { workspace } = await withState(stateFile({ resources: 1 }));
  expect((await owner.api.post(`/workspaces/${workspace.id}/actions/lock`)).status).toBe(200);
  expect((await owner.api.delete(`/workspaces/${workspace.id}`)).status).toBe(204);
  expect((await owner.api.get(`/workspaces/${workspace.id}`)).status).toBe(404);

  const pending = await newLockedWorkspace(fixture());
  const created = await owner.api.post(
    `/workspaces/${pending.id}/state-versions`,
    announcement(stateFile()),
  );
  expect(created.status).toBe(201);
  expect((await owner.api.delete(byName(pending.attributes.name), {})).status).toBe(204);
  const put = created.body.data.attributes["hosted-state-upload-url"];
  expect((await fetch(put, { method: "PUT", body: "x" })).status).toBe(404);
});

test("callers who may read it and not force-delete it get 403; callers who may not read it get 404", async () => {
  proves(
    "Authentication/11 unauthorized is 404, not 403",
    "Workspace errors/safe delete",
    "Workspace errors/force delete",
  );
  const { reader, readable, outsider } = fixture();
  const { id, attributes } = await newWorkspace(fixture(), {}, readable.id);
  for (const path of [`/workspaces/${id}`, byName(attributes.name)]) {
    const answer = await reader.api.delete(path);
    expect(answer.status).toBe(403);
    errorDetails(answer);
    expect((await outsider.api.delete(path)).status).toBe(404);
    expect((await reader.api.post(`${path}/actions/safe-delete`)).status).toBe(404);
  }
  expect((await fixture().owner.api.get(`/workspaces/${id}`)).status).toBe(200);
});

test("a project administrator may delete safely and not by force", async () => {
  proves("Authentication/5 force delete", "Workspace rights/force delete");
  const { id: teamId, member: administrator } = await newTeam(fixture());
  const project = await newProject(fixture());
  await fixture().stack.people.grant({ teamId, projectId: project.id, access: "admin" });
  const { id } = await newWorkspace(fixture(), {}, project.id);
  expect((await administrator.api.delete(`/workspaces/${id}`)).status).toBe(403);
  const safe = await administrator.api.post(`/workspaces/${id}/actions/safe-delete`);
  expect(safe.status).toBe(204);
});

test("exactly one of a concurrent deletion and lock succeeds completely", async () => {
  const { owner } = fixture();
  for (let round = 0; round < 5; round++) {
    const { id } = await newWorkspace(fixture());
    const [deleted, locked] = await Promise.all([
      safeDelete(id),
      owner.api.post(`/workspaces/${id}/actions/lock`),
    ]);
    const shown = await owner.api.get(`/workspaces/${id}`);
    if (deleted.status === 204) {
      expect([404, 409]).toContain(locked.status);
      expect(shown.status).toBe(404);
    } else {
      expect(deleted.status).toBe(409);
      expect(locked.status).toBe(200);
      expect(shown.body.data.attributes.locked).toBe(true);
    }
  }
});

test("a workspace with a freed name inherits nothing", async () => {
  const { owner, organization } = fixture();
  const { workspace } = await withState(
    stateFile({ outputs: { a: { value: 1, type: "number" } } }),
  );
  const { name } = workspace.attributes;
  await owner.api.post(`/workspaces/${workspace.id}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "old" } }],
  });
  expect((await owner.api.delete(`/workspaces/${workspace.id}`)).status).toBe(204);
  const heir = await newWorkspace(fixture(), { name });
  expect(heir.attributes).toMatchObject({ "tag-names": [], "resource-count": 0 });
  const versions = await owner.api.get(
    `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${name}`,
  );
  expect(versions.body.data).toEqual([]);
  const outputs = await owner.api.get(`/workspaces/${heir.id}/current-state-version-outputs`);
  expect(outputs.body.data).toEqual([]);
});
