import { newId } from "@statehouse/postgres/ids";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chainNow } from "../stack/audit-chain.ts";
import { document } from "../stack/http.ts";
import { newOrganization, organizationId, unusedName } from "../stack/organization.ts";
import { declaredEvents, type Published, published } from "../stack/published.ts";
import {
  announcement,
  inlineState,
  processedVersion,
  rollbackTo,
  stateFile,
} from "../stack/state.ts";
import { type ApiUser, newUser, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { COLLECTION_INTERVAL: "1" } });
let bus: Published;
beforeAll(() => {
  bus = published(fixture().stack.nats);
});
afterAll(() => bus[Symbol.asyncDispose]());

const short = ({ type }: { type: string }) =>
  type.replace(/^statehouse\.\w+\./, "").replace(/\.v1$/, "");
const act = (id: string, action: string) =>
  fixture().owner.api.post(`/workspaces/${id}/actions/${action}`);

/** Makes all changes in the life of a workspace. The bytes and outputs of its state must not appear in events. */
async function liveThrough() {
  const { owner } = fixture();
  const workspace = await newWorkspace(fixture());
  const { id } = workspace;
  await owner.api.patch(`/workspaces/${id}`, document("workspaces", { description: "changed" }));
  await act(id, "lock");
  const state = stateFile({
    marker: "bytes-nobody-hears-of",
    resources: 1,
    outputs: { secret: { value: "value-nobody-hears-of", type: "string", sensitive: true } },
  });
  const created = await owner.api.post(`/workspaces/${id}/state-versions`, inlineState(state));
  await processedVersion(owner.api, created.body.data.id);
  await act(id, "unlock");
  await act(id, "lock");
  await owner.api.post(
    `/workspaces/${id}/state-versions`,
    announcement(stateFile({ serial: 2, lineage: state.lineage })),
  );
  await act(id, "force-unlock");
  await act(id, "lock");
  await owner.api.patch(`/workspaces/${id}/state-versions`, rollbackTo(created.body.data.id));
  await act(id, "unlock");
  for (const action of ["soft_delete", "restore", "soft_delete", "permanently_delete"]) {
    const path = `/state-versions/${created.body.data.id}/actions/${action}_backing_data`;
    expect((await owner.api.post(path)).status).toBe(200);
  }
  expect((await owner.api.delete(`/workspaces/${id}`)).status).toBe(204);
  return { id: id as string, state };
}

test("every change of a workspace publishes an event, in order, with growing revisions", async () => {
  const { organization, stack } = fixture();
  const { id } = await liveThrough();
  await waitFor(() => bus.about("workspaceId", id, "workspace.deleted.v1").length > 0);
  const own = bus
    .about("workspaceId", id)
    .filter(({ source }) => source === "urn:statehouse:default/workspaces");
  expect(own.map(short)).toEqual([
    "workspace.created",
    "workspace.updated",
    "workspace.locked",
    "workspace.unlocked",
    "workspace.locked",
    "workspace.unlocked",
    "workspace.locked",
    "workspace.unlocked",
    "workspace.deleted",
  ]);
  for (const [index, event] of own.entries()) {
    expect(event.subject).toBe(id);
    expect(event.revision).toBeGreaterThan(own[index - 1]?.revision ?? 0);
  }
  const unlocks = own.filter(({ type }) => type.endsWith("unlocked.v1"));
  expect(unlocks.map(({ json }) => JSON.parse(json).forced ?? false)).toEqual([false, true, false]);
  const inside = await organizationId(stack, organization);
  for (const { json } of own) expect(JSON.parse(json).organizationId).toBe(inside);
});

test("every change of a state publishes an event, in order", async () => {
  proves("State events/every change of a state is told, and no value with it");
  const { id } = await liveThrough();
  await waitFor(() => bus.about("workspaceId", id, "permanently-deleted.v1").length > 0);
  const versions = bus
    .about("workspaceId", id)
    .filter(({ type }) => type.includes("state-version"));
  expect(versions.map(short)).toEqual([
    "state-version.created",
    "state-version.finalized",
    "state-version.processed",
    "state-version.created",
    "state-version.discarded",
    "state-version.created",
    "state-version.finalized",
    "state-version.processed",
    "state-version.soft-deleted",
    "state-version.restored",
    "state-version.soft-deleted",
    "state-version.permanently-deleted",
  ]);
  const [original, , copy] = versions
    .filter(({ type }) => type.endsWith("state-version.created.v1"))
    .map(({ json }) => JSON.parse(json));
  expect(copy.rollbackStateVersionId).toBe(original.stateVersionId);
  const revisions = bus
    .about("workspaceId", id)
    .filter(({ source }) => source === "urn:statehouse:default/state")
    .map(({ revision }) => revision);
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
});

test("events of a workspace's retention policy have the organization of the workspace", async () => {
  const { owner, stack, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  const policy = `/workspaces/${id}/relationships/data-retention-policy`;
  await owner.api.post(policy, document("data-retention-policy-dont-deletes", {}));
  await owner.api.delete(policy);
  const endings = ["data-retention-policy.set.v1", "data-retention-policy.deleted.v1"];
  const events = await waitFor(() => {
    const found = bus.about("workspaceId", id, ...endings);
    return found.length === 2 && found;
  });
  const inside = await organizationId(stack, organization);
  for (const event of events) expect(event.organizationId).toBe(inside);
});

/** Creates an organization with one object of every kind, and deletes the organization. */
async function furnishAndDissolve({ api }: Pick<ApiUser, "api">): Promise<void> {
  const path = `/organizations/${await newOrganization(api)}`;
  await api.patch(path, document("organizations", { email: "new@example.com" }));
  const pool = await api.post(`${path}/agent-pools`, document("agent-pools", { name: "told" }));
  const self = `/agent-pools/${pool.body.data.id}`;
  await api.patch(self, document("agent-pools", { name: "told again" }));
  await api.delete(self);
  const maxima = { "token-ttl-policies": [{ "token-type": "team", "max-ttl-ms": 86_400_000 }] };
  await api.patch(
    `${path}/token-ttl-policies`,
    document("organization-token-ttl-policies", maxima),
  );
  const retention = `${path}/relationships/data-retention-policy`;
  await api.post(retention, document("data-retention-policy-dont-deletes", {}));
  await api.delete(retention);
  const key = await api.post(
    `${path}/ssh-keys`,
    document("ssh-keys", { name: "told", value: "value-nobody-hears-of" }),
  );
  await api.patch(`/ssh-keys/${key.body.data.id}`, document("ssh-keys", { name: "told again" }));
  await api.delete(`/ssh-keys/${key.body.data.id}`);
  const reserved = await api.post(
    `${path}/reserved-tag-keys`,
    document("reserved-tag-keys", { key: "told" }),
  );
  const reservation = `/reserved-tag-keys/${reserved.body.data.id}`;
  await api.patch(reservation, document("reserved-tag-keys", { "disable-overrides": true }));
  await api.delete(reservation);
  const tags = { data: [{ type: "tags", attributes: { name: "told" } }] };
  const workspaces = document("workspaces", { name: "told" }, { tags });
  await api.post(`${path}/workspaces`, workspaces);
  const [tag] = (await api.get(`${path}/tags`)).body.data;
  await api.delete(`${path}/tags`, { data: [{ type: "tags", id: tag.id }] });
  const project = await api.post(`${path}/projects`, document("projects", { name: "told" }));
  const itself = `/projects/${project.body.data.id}`;
  await api.patch(itself, document("projects", { name: "told again" }));
  await api.delete(itself);
  expect((await api.delete(path)).status).toBe(204);
}

/**
 * Creates and revokes a run's token, and reports the run as applied. Then sets an auto-destroy time in the past, so
 * that a destroy run is due.
 */
async function runThrough(): Promise<void> {
  const { stack, owner } = fixture();
  const { id: workspaceId } = await newWorkspace(fixture());
  const runId = newId("run");
  const { tokens } = await stack.runnerCalls("runner");
  const { runTokenId } = await tokens.createRunToken({ runId, workspaceId });
  await tokens.renewRunToken({ runTokenId });
  await tokens.deleteRunToken({ runTokenId });
  const { reports: runner } = await stack.runnerCalls("runner");
  await runner.run({ runId, workspaceId, status: "applied" });
  const due = document("workspaces", { "auto-destroy-at": "2026-01-01T00:00:00Z" });
  await owner.api.patch(`/workspaces/${workspaceId}`, due);
}

/** Writes two states and sets a retention policy that deletes the first of them. */
async function outliveThePolicy(): Promise<void> {
  const { stack, owner } = fixture();
  const { id } = await newWorkspace(fixture());
  await owner.api.post(`/workspaces/${id}/actions/lock`);
  const path = `/workspaces/${id}/state-versions`;
  const { lineage } = stateFile();
  for (const serial of [1, 2])
    await owner.api.post(path, inlineState(stateFile({ serial, lineage })));
  await stack.rows(
    "state",
    "update state_versions set created_at = now() - interval '2 days' where workspace_id = $1",
    [id],
  );
  const policy = document("data-retention-policy-delete-olders", { "delete-older-than-n-days": 1 });
  await owner.api.post(`/workspaces/${id}/relationships/data-retention-policy`, policy);
}

/**
 * Makes all changes in the life of a team with its members and grants, and of a user who is invited, promoted and
 * removed.
 */
async function gatherAndPart(guest: ApiUser): Promise<void> {
  const { owner, organization, stack } = fixture();
  const { api } = owner;
  const base = `/organizations/${organization}`;
  const team = await api.post(`${base}/teams`, document("teams", { name: unusedName("gather") }));
  const { id } = team.body.data;
  await api.patch(`/teams/${id}`, document("teams", { visibility: "organization" }));
  const email = `${guest.username}@example.com`;
  const invited = await api.post(
    `${base}/organization-memberships`,
    document("organization-memberships", { email }, { teams: { data: [{ type: "teams", id }] } }),
  );
  const membership = `/organization-memberships/${invited.body.data.id}`;
  await guest.api.post(`${membership}/actions/accept`);
  const workspace = await newWorkspace(fixture());
  const targets = {
    project: workspace.relationships.project.data.id,
    workspace: workspace.id,
  };
  for (const [noun, target] of Object.entries(targets)) {
    const type = `team-${noun}s`;
    const granted = await api.post(
      `/${type}`,
      document(
        type,
        { access: "read" },
        {
          team: { data: { type: "teams", id } },
          [noun]: { data: { type: `${noun}s`, id: target } },
        },
      ),
    );
    const path = `/${type}/${granted.body.data.id}`;
    await api.patch(path, document(type, { access: "write" }));
    expect((await api.delete(path)).status).toBe(204);
  }
  expect((await api.delete(membership)).status).toBe(204);
  expect((await api.delete(`/teams/${id}`)).status).toBe(204);
  const administrator = await newUser(stack, { administrator: true });
  const suspend = `/admin/users/${guest.id}/actions/suspend`;
  expect((await administrator.api.post(suspend)).status).toBe(200);
  expect((await administrator.api.delete(`/admin/users/${guest.id}`)).status).toBe(204);
}

test("every declared event type is published by a user's action, as CloudEvents", async () => {
  proves("Access events/every change of access is published");
  const { stack, owner, organization } = fixture();
  await liveThrough();
  const person = await newUser(stack);
  const made = await person.api.post(
    `/users/${person.id}/authentication-tokens`,
    document("authentication-tokens", {}),
  );
  await person.api.delete(`/authentication-tokens/${made.body.data.id}`);
  const project = await owner.api.post(
    `/organizations/${organization}/projects`,
    document("projects", { name: unusedName("told") }),
  );
  const team = await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: unusedName("told"),
    members: [person],
  });
  await stack.people.grant({ teamId: team.id, projectId: project.body.data.id, access: "read" });
  await stack.people.removeMember(team.id, person);
  await furnishAndDissolve(person);
  await runThrough();
  await outliveThePolicy();
  await gatherAndPart(await newUser(stack));
  await chainNow(stack);
  await waitFor(() => {
    const types = new Set(bus.events.map(({ type }) => type));
    const missing = declaredEvents.filter((type) => !types.has(type));
    if (missing.length > 0) throw new Error(`not received yet: ${missing.join(", ")}`);
    return true;
  });
  const ids = bus.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const event of bus.events) {
    expect(event.id).not.toBe("");
    expect(event.source).toMatch(/^urn:statehouse:default\/(access|workspaces|state)$/);
    expect(event.auth?.id).toMatch(/^(user|team|org|run)-\w+$|^service:\w+$/);
    expect(event.type.split(".")[1]).toBe(event.source.split("/")[1]);
    expect(event.subject).not.toBe("");
    expect(event.revision).toBeGreaterThan(0);
    expect(Math.abs(Date.now() - event.time.getTime())).toBeLessThan(600_000);
  }
});

test("events never contain a token, a state or an output value", async () => {
  proves("State events/every change of a state is told, and no value with it");
  const { owner, reader, outsider } = fixture();
  const { state, id } = await liveThrough();
  await waitFor(() => bus.about("workspaceId", id, "workspace.deleted.v1").length > 0);
  const messages = bus.events.map(({ json }) => json).join("\n");
  expect(messages).toContain(id);
  const secrets = ["nobody-hears-of", state.bytes.toString("base64").slice(0, 40), "sth_"];
  for (const secret of [...secrets, owner.token, reader.token, outsider.token]) {
    expect(messages).not.toContain(secret);
  }
});

test("refused requests publish no event", async () => {
  const { owner, reader } = fixture();
  const workspace = await newWorkspace(fixture());
  await reader.api.post(`/workspaces/${workspace.id}/actions/lock`);
  await act(workspace.id, "unlock");
  await owner.api.patch(`/workspaces/${workspace.id}`, document("workspaces", { name: "no name" }));
  await owner.api.post(`/workspaces/${workspace.id}/state-versions`, inlineState(stateFile()));
  await act(workspace.id, "lock");
  await waitFor(() => bus.about("workspaceId", workspace.id, "workspace.locked.v1").length > 0);
  expect(bus.about("workspaceId", workspace.id).map(short)).toEqual([
    "workspace.created",
    "workspace.locked",
  ]);
});
