import { newId } from "@statehouse/postgres/ids";
import type { Runner } from "@statehouse/rpc/testing";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { download } from "../stack/http.ts";
import type { RunnerCalls } from "../stack/runner-calls.ts";
import { announcement, inlineState, processedVersion, stateFile } from "../stack/state.ts";
import { errorDetails, newProject, newWorkspace, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();
let runner: Runner;
let calls: RunnerCalls;
beforeAll(async () => {
  runner = (await fixture().stack.runnerCalls("runner")).reports;
  calls = await fixture().stack.runnerCalls("runner");
});

const outputs = { address: { value: "10.0.0.1", type: "string" } };

/** Creates an unlocked workspace with a state. */
async function producer(attributes: Record<string, unknown> = {}, projectId?: string) {
  const { api } = fixture().owner;
  const workspace = await newWorkspace(fixture(), attributes, projectId);
  const act = (action: string) => api.post(`/workspaces/${workspace.id}/actions/${action}`);
  await act("lock");
  const state = stateFile({ outputs });
  const path = `/workspaces/${workspace.id}/state-versions`;
  const created = await api.post(path, inlineState(state));
  const version = created.body.data;
  await processedVersion(api, version.id);
  await act("unlock");
  return { ...workspace, version, state };
}

/** Creates a token for a run that has not been reported yet. */
async function running(workspaceId: string) {
  const runId = newId("run");
  const { secret, runTokenId } = await calls.tokens.createRunToken({ runId, workspaceId });
  return { runId, runTokenId, secret, api: recordedApi(fixture().url, secret) };
}

/** Reads a workspace's state through every route with the run's token; returns the distinct statuses. */
async function reads(
  { api, secret }: Pick<Awaited<ReturnType<typeof running>>, "api" | "secret">,
  { id, attributes, version }: Awaited<ReturnType<typeof producer>>,
) {
  const { organization } = fixture();
  const { body } = await fixture().owner.api.get(`/state-versions/${version.id}/outputs`);
  const list = `filter[workspace][name]=${attributes.name}&filter[organization][name]=${organization}`;
  const answers = await Promise.all([
    api.get(`/workspaces/${id}`),
    api.get(`/organizations/${organization}/workspaces/${attributes.name}`),
    api.get(`/workspaces/${id}/current-state-version`),
    api.get(`/workspaces/${id}/current-state-version-outputs`),
    api.get(`/state-versions/${version.id}`),
    api.get(`/state-versions/${version.id}/outputs`),
    api.get(`/state-version-outputs/${body.data[0].id}`),
    api.get(`/state-versions?${list}`),
    download(version.attributes["hosted-state-download-url"], secret),
  ]);
  return [...new Set(answers.map(({ status }) => status))];
}

describe("a run token", () => {
  test("reads its workspace, its organization and their children that it needs, and nothing else", async () => {
    proves("Teams and users/run tokens");
    const { organization } = fixture();
    const own = await producer();
    const [other, project] = [await producer(), await newProject(fixture())];
    const run = await running(own.id);
    expect(await reads(run, own)).toEqual([200]);
    expect(await reads(run, other)).toEqual([404]);
    const { body } = await run.api.get(`/organizations/${organization}/workspaces`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([own.id]);
    const entitlements = await run.api.get(`/organizations/${organization}/entitlement-set`);
    expect(entitlements.status).toBe(200);
    expect((await run.api.get(`/projects/${project.id}`)).status).toBe(404);
    const shown = await run.api.get(`/workspaces/${own.id}?include=outputs`);
    expect(shown.body.included).toHaveLength(1);
    expect(shown.body.data.attributes.permissions).toMatchObject({
      "can-read-state-versions": true,
      "can-create-state-versions": true,
      "can-lock": false,
      "can-update": false,
    });
    for (const action of ["lock", "unlock", "force-unlock", "safe-delete"]) {
      expect((await run.api.post(`/workspaces/${own.id}/actions/${action}`)).status).toBe(404);
    }
    const consumers = `/workspaces/${own.id}/relationships/remote-state-consumers`;
    expect((await run.api.post(consumers, { data: [] })).status).toBe(404);
  });

  test("writes the workspace's state only under the run's own lock", async () => {
    proves("Teams and users/run tokens", "State version includes/created_by: an internal account");
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const run = await running(id);
    const path = `/workspaces/${id}/state-versions`;
    expect((await run.api.post(path, inlineState(stateFile()))).status).toBe(412);
    await owner.api.post(`/workspaces/${id}/actions/lock`);
    expect((await run.api.post(path, inlineState(stateFile()))).status).toBe(409);
    await owner.api.post(`/workspaces/${id}/actions/unlock`);

    await calls.locks.lockAsRun({ workspaceId: id, runId: run.runId, reason: "applying" });
    const created = await run.api.post(path, inlineState(stateFile()));
    expect(created.status).toBe(201);
    const account = { type: "users", id: "user-runsofstatehouse" };
    expect(created.body.data.relationships["created-by"].data).toEqual(account);
    const shown = await owner.api.get(`/state-versions/${created.body.data.id}?include=created_by`);
    expect(shown.body.included).toMatchObject([
      { ...account, attributes: { "is-service-account": true } },
    ]);
    expect((await owner.api.post(path, inlineState(stateFile()))).status).toBe(409);
    const elsewhere = await newWorkspace(fixture());
    const foreign = `/workspaces/${elsewhere.id}/state-versions`;
    expect((await run.api.post(foreign, inlineState(stateFile()))).status).toBe(404);
    await calls.locks.unlockAsRun({ workspaceId: id, runId: run.runId });
    const current = await run.api.get(`/workspaces/${id}/current-state-version`);
    expect(current.body.data.id).toBe(created.body.data.id);
  });

  test("is refused after the run is reported as ended, and no new one can be created", async () => {
    const own = await producer();
    const run = await running(own.id);
    await runner.run({ runId: run.runId, workspaceId: own.id, status: "applying", revision: 1n });
    expect(await reads(run, own)).toEqual([200]);
    await runner.run({ runId: run.runId, workspaceId: own.id, status: "applied", revision: 2n });
    await waitFor(async () => (await run.api.get(`/workspaces/${own.id}`)).status === 401);
    expect(await reads(run, own)).toEqual([401]);
    const again = calls.tokens.createRunToken({ runId: run.runId, workspaceId: own.id });
    await expect(again).rejects.toMatchObject({ kind: "conflict", reason: "run_ended" });
    const renewed = calls.tokens.renewRunToken({ runTokenId: run.runTokenId });
    await expect(renewed).rejects.toMatchObject({ kind: "notFound" });
  });

  test("is refused after its runner revokes it or the workspace is deleted", async () => {
    const { owner } = fixture();
    const own = await producer();
    const [run, other] = [await running(own.id), await running(own.id)];
    await calls.tokens.deleteRunToken({ runTokenId: run.runTokenId });
    await calls.tokens.deleteRunToken({ runTokenId: run.runTokenId });
    expect((await run.api.get(`/workspaces/${own.id}`)).status).toBe(401);
    expect((await other.api.get(`/workspaces/${own.id}`)).status).toBe(200);
    await owner.api.delete(`/workspaces/${own.id}`);
    await waitFor(async () => (await other.api.get(`/workspaces/${own.id}`)).status === 401);
    const gone = calls.tokens.createRunToken({ runId: newId("run"), workspaceId: own.id });
    await expect(gone).rejects.toMatchObject({ kind: "notFound" });
  });

  test("belongs to its runner and its run only", async () => {
    const { stack } = fixture();
    const [own, other] = [await producer(), await producer()];
    const run = await running(own.id);
    const foreign = await stack.runnerCalls("runner-other");
    const { runId, runTokenId } = run;
    for (const [by, workspaceId] of [
      [foreign, own.id],
      [calls, other.id],
    ] as const) {
      await expect(by.tokens.createRunToken({ runId, workspaceId })).rejects.toMatchObject({
        reason: "run_of_other",
      });
    }
    const renewal = foreign.tokens.renewRunToken({ runTokenId });
    await expect(renewal).rejects.toMatchObject({ kind: "notFound" });
    await foreign.tokens.deleteRunToken({ runTokenId });
    expect((await calls.tokens.renewRunToken({ runTokenId })).expiredAt).toBeDefined();
    expect(await reads(run, own)).toEqual([200]);
  });
});

describe("the state of another workspace", () => {
  test("can be read by runs of its consumers while they are consumers", async () => {
    proves("Reading/what runs read", "Remote state consumers/enforced");
    const { owner, reader } = fixture();
    const shared = await producer();
    const [consumer, outsider] = [await newWorkspace(fixture()), await newWorkspace(fixture())];
    const [run, foreign] = [await running(consumer.id), await running(outsider.id)];
    const path = `/workspaces/${shared.id}/relationships/remote-state-consumers`;
    const body = { data: [{ type: "workspaces", id: consumer.id }] };
    expect(await reads(run, shared)).toEqual([404]);
    await owner.api.post(path, body);
    expect(await reads(run, shared)).toEqual([200]);
    expect(await reads(foreign, shared)).toEqual([404]);
    // A run token gives its creator no additional permission.
    expect((await reader.api.get(`/state-versions/${shared.version.id}`)).status).toBe(404);
    const shown = await run.api.get(`/workspaces/${shared.id}`);
    expect(shown.body.data.attributes.permissions).toMatchObject({
      "can-read-state-versions": true,
      "can-create-state-versions": false,
    });
    const written = await run.api.post(
      `/workspaces/${shared.id}/state-versions`,
      announcement(stateFile()),
    );
    expect(written.status).toBe(404);
    await owner.api.delete(path, body);
    expect(await reads(run, shared)).toEqual([404]);
  });

  test("can be read by every run of the organization or project that it is shared with", async () => {
    proves("Remote state consumers/enforced");
    const { outsider, readable } = fixture();
    const toAll = await producer({ "global-remote-state": true });
    const toProject = await producer({ "project-remote-state": true }, readable.id);
    const inProject = await running((await newWorkspace(fixture(), {}, readable.id)).id);
    const elsewhere = await running((await newWorkspace(fixture())).id);
    const { organization } = outsider;
    const abroad = await running((await newWorkspace({ organization, owner: outsider })).id);
    expect(await reads(inProject, toAll)).toEqual([200]);
    expect(await reads(elsewhere, toAll)).toEqual([200]);
    expect(await reads(abroad, toAll)).toEqual([404]);
    expect(await reads(inProject, toProject)).toEqual([200]);
    expect(await reads(elsewhere, toProject)).toEqual([404]);
  });
});

describe("a workspace locked by a run", () => {
  let id: string;
  let runId: string;
  beforeEach(async () => {
    ({ id } = await newWorkspace(fixture()));
    runId = newId("run");
    await calls.locks.lockAsRun({ workspaceId: id, runId, reason: "applying" });
  });

  test("shows the lock, and the run once it is reported", async () => {
    proves("Workspace includes/locked_by");
    const { owner } = fixture();
    const shown = await owner.api.get(`/workspaces/${id}?include=locked_by`);
    expect(shown.body.data.attributes).toMatchObject({
      locked: true,
      "locked-reason": "applying",
    });
    expect(shown.body.data.relationships["locked-by"].data).toEqual({ type: "runs", id: runId });
    await runner.run({ runId, workspaceId: id, status: "applying" });
    await waitFor(async () => {
      const { body } = await owner.api.get(`/workspaces/${id}?include=locked_by`);
      return body.included[0]?.type === "runs" && body.included[0].id === runId;
    });
  });

  test("refuses all other locks with the text that clients match; a repeat changes nothing", async () => {
    const { owner } = fixture();
    await calls.locks.lockAsRun({ workspaceId: id, runId });
    const refused = await owner.api.post(`/workspaces/${id}/actions/lock`);
    expect(refused.status).toBe(409);
    expect(errorDetails(refused)[0]).toContain(`is locked by Run ${runId}`);
    const unlock = await owner.api.post(`/workspaces/${id}/actions/unlock`);
    expect(errorDetails(unlock)[0]).toContain(`is locked by Run ${runId}`);
    const other = newId("run");
    await expect(calls.locks.lockAsRun({ workspaceId: id, runId: other })).rejects.toMatchObject({
      reason: "workspace_locked",
    });
    await expect(calls.locks.unlockAsRun({ workspaceId: id, runId: other })).rejects.toMatchObject({
      reason: "locked_by_other",
    });
  });

  test("can be unlocked by its run even after the run has ended, and not locked again by it", async () => {
    await runner.run({ runId, workspaceId: id, status: "errored" });
    await waitFor(async () => {
      const again = calls.locks.lockAsRun({ workspaceId: id, runId });
      return again.then(
        () => false,
        ({ reason }) => reason === "run_ended",
      );
    });
    await calls.locks.unlockAsRun({ workspaceId: id, runId });
    await expect(calls.locks.unlockAsRun({ workspaceId: id, runId })).rejects.toMatchObject({
      reason: "already_unlocked",
    });
  });

  test("can be force-unlocked by its administrators", async () => {
    expect((await fixture().owner.api.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(
      200,
    );
  });
});

test("a state version that names a run of another workspace returns 422", async () => {
  proves("State version creation/relationships.run");
  const { owner } = fixture();
  const [{ id }, other] = [await newWorkspace(fixture()), await newWorkspace(fixture())];
  const runId = await runner.run({ workspaceId: other.id, status: "applying" });
  await waitFor(async () => {
    const { body } = await owner.api.get(`/workspaces/${other.id}`);
    return body.data.relationships["current-run"].data?.id === runId;
  });
  await owner.api.post(`/workspaces/${id}/actions/lock`);
  const { data } = inlineState(stateFile());
  const refused = await owner.api.post(`/workspaces/${id}/state-versions`, {
    data: { ...data, relationships: { run: { data: { type: "runs", id: runId } } } },
  });
  expect(refused.status).toBe(422);
  expect(refused.body.errors[0].source.pointer).toBe("/data/relationships/run");
});
