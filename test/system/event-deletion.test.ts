import { eventType } from "@statehouse/events";
import { eventMessages } from "@statehouse/events/catalog";
import { newId } from "@statehouse/postgres/ids";
import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, document, linkage } from "../stack/http.ts";
import { newOrganization, organizationId, unusedName } from "../stack/organization.ts";
import { type Published, published } from "../stack/published.ts";
import { newProject, newUser, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();
let bus: Published;
beforeAll(() => {
  bus = published(fixture().stack.nats);
});
afterAll(() => bus[Symbol.asyncDispose]());

async function succeeded(call: Promise<Answer>): Promise<Answer["body"]> {
  const { status, body } = await call;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

const api = () => fixture().owner.api;
const ofOrganization = (path: string) => `/organizations/${fixture().organization}/${path}`;
const renamed = () => ({ name: unusedName("renamed") });

async function created(path: string, body: unknown): Promise<string> {
  return (await succeeded(api().post(path, body))).data.id;
}

/** Changes and deletes an object; returns its id. */
async function changedAndDeleted(
  noun: string,
  id: string,
  change: Record<string, unknown>,
): Promise<string> {
  await succeeded(api().patch(`/${noun}/${id}`, document(noun, change)));
  await succeeded(api().delete(`/${noun}/${id}`));
  return id;
}

const newTeam = () => created(ofOrganization("teams"), document("teams", renamed()));

/** Gives a team access to a project or workspace, changes the access and deletes it. */
async function teamAccess(noun: "project" | "workspace", id: string): Promise<string> {
  const related = { team: linkage("teams", await newTeam()), [noun]: linkage(`${noun}s`, id) };
  const body = document(`team-${noun}s`, { access: "read" }, related);
  const access = await created(`/team-${noun}s`, body);
  return changedAndDeleted(`team-${noun}s`, access, { access: "admin" });
}

/** Invites a user to a new team and deletes the membership after the user has accepted. */
async function membership(): Promise<{ id: string; teamId: string }> {
  const teamId = await newTeam();
  const user = await newUser(fixture().stack);
  const teams = { teams: { data: [{ type: "teams", id: teamId }] } };
  const email = `${user.username}@example.com`;
  const id = await created(
    ofOrganization("organization-memberships"),
    document("organization-memberships", { email }, teams),
  );
  await succeeded(user.api.post(`/organization-memberships/${id}/actions/accept`));
  await succeeded(api().delete(`/organization-memberships/${id}`));
  return { id, teamId };
}

/** For each noun with a deletion: creates, changes and deletes one object, and returns the subject of its events. */
const lives: Record<string, () => Promise<string>> = {
  project: async () => changedAndDeleted("projects", (await newProject(fixture())).id, renamed()),
  workspace: async () =>
    changedAndDeleted("workspaces", (await newWorkspace(fixture())).id, renamed()),
  "ssh-key": async () => {
    const key = document("ssh-keys", { name: "a", value: "a private key" });
    return changedAndDeleted("ssh-keys", await created(ofOrganization("ssh-keys"), key), renamed());
  },
  "agent-pool": async () => {
    const pool = document("agent-pools", renamed());
    const id = await created(ofOrganization("agent-pools"), pool);
    return changedAndDeleted("agent-pools", id, renamed());
  },
  "reserved-tag-key": async () => {
    const key = document("reserved-tag-keys", { key: unusedName("key") });
    const id = await created(ofOrganization("reserved-tag-keys"), key);
    return changedAndDeleted("reserved-tag-keys", id, { "disable-overrides": true });
  },
  "data-retention-policy": async () => {
    const { id } = await newWorkspace(fixture());
    const path = `/workspaces/${id}/relationships/data-retention-policy`;
    const older = (days: number) =>
      document("data-retention-policy-delete-olders", { "delete-older-than-n-days": days });
    const policy = await created(path, older(30));
    await succeeded(api().patch(path, older(7)));
    await succeeded(api().delete(path));
    return policy;
  },
  organization: async () => {
    const path = `/organizations/${await newOrganization(api())}`;
    const id = await organizationId(fixture().stack, path.slice("/organizations/".length));
    const change = document("organizations", { email: "changed@example.com" });
    await succeeded(api().patch(path, change));
    await succeeded(api().delete(path));
    return id;
  },
  tag: async () => {
    const { id } = await newWorkspace(fixture());
    const name = unusedName("tag");
    const tags = { data: [{ type: "tags", attributes: { name } }] };
    await succeeded(api().post(`/workspaces/${id}/relationships/tags`, tags));
    const { data } = await succeeded(api().get(`${ofOrganization("tags")}?q=${name}`));
    const tag = data[0].id;
    await succeeded(api().delete(ofOrganization("tags"), { data: [{ type: "tags", id: tag }] }));
    return tag;
  },
  team: async () => changedAndDeleted("teams", await newTeam(), renamed()),
  "team-member": async () => (await membership()).teamId,
  "organization-membership": async () => (await membership()).id,
  "team-project": async () => teamAccess("project", (await newProject(fixture())).id),
  "team-workspace": async () => teamAccess("workspace", (await newWorkspace(fixture())).id),
  token: async () => {
    const token = document("authentication-tokens", { description: unusedName("token") });
    const id = await created(`/teams/${await newTeam()}/authentication-tokens`, token);
    await succeeded(api().delete(`/authentication-tokens/${id}`));
    return id;
  },
  "run-token": async () => {
    const { tokens } = await fixture().stack.runnerCalls("runner");
    const { id: workspaceId } = await newWorkspace(fixture());
    const { runTokenId } = await tokens.createRunToken({ runId: newId("run"), workspaceId });
    await tokens.renewRunToken({ runTokenId });
    await tokens.deleteRunToken({ runTokenId });
    return runTokenId;
  },
  user: async () => {
    const user = await newUser(fixture().stack);
    const administrator = await newUser(fixture().stack, { administrator: true });
    const change = document("users", { username: unusedName("person") });
    await succeeded(user.api.patch("/account/update", change));
    await succeeded(administrator.api.delete(`/admin/users/${user.id}`));
    return user.id;
  },
};

/** The prefixes `statehouse.<service>.<noun>` with the types of the deletions of the catalog. */
const deletions = eventMessages
  .map(eventType)
  .filter((type) => /\.(deleted|removed)\.v1$/.test(type))
  .map((type) => ({
    type,
    noun: type.split(".")[2] ?? "",
    of: `${type.split(".").slice(0, 3).join(".")}.`,
  }));

test("a deletion has a higher revision than every event of the object before it", async () => {
  expect(Object.keys(lives).toSorted()).toEqual(deletions.map(({ noun }) => noun).toSorted());
  const stale: string[] = [];
  for (const { type, noun, of } of deletions) {
    const subject = await lives[noun]?.();
    const events = await waitFor(() => {
      const found = bus.events.filter(
        (each) => each.subject === subject && each.type.startsWith(of),
      );
      return found.some((each) => each.type === type) && found;
    });
    const revision = events.find((each) => each.type === type)?.revision ?? 0;
    const others = events.filter((each) => each.type !== type);
    // Tags have no other event.
    if (noun !== "tag") expect(others.length, noun).toBeGreaterThan(0);
    if (others.some((other) => other.revision >= revision)) stale.push(noun);
  }
  expect(stale).toEqual([]);
});
