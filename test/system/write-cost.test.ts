import { routes } from "@statehouse/gateway/routes";
import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { costAfter, type RequestCost } from "../stack/request-cost.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import { expectStatus, inlineState, rollbackTo, stateFile, writeState } from "../stack/state.ts";
import { projectAccess, workspaceAccess } from "../stack/team-access.ts";
import { type ApiUser, newProject, newUser, newWorkspace } from "./fixture.ts";
import { bodyFor, createObjects, type ObjectIds, pathWith } from "./object-ids.ts";

/** One call of a route: the ids in its path, its body and its caller, where they differ from the usual ones. */
interface Call {
  ids?: ObjectIds;
  body?: unknown;
  api?: Api;
}

/** The transactions of a write, and the function that arranges each of its calls. */
type Row = [cost: string, arrange?: () => Promise<Call> | Call];

let stack: Stack;
let owner: ApiUser;
let objects: ObjectIds;
let organization: string;

const made = async (path: string, body: unknown): Promise<string> => {
  const { status, body: created } = await owner.api.post(path, body);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(created)}`);
  return created.data?.id;
};
const inOrganization = (type: string, attributes: Record<string, unknown>) =>
  made(`/organizations/${organization}/${type}`, document(type, attributes));
const identifiers = (type: string, ...ids: readonly (string | undefined)[]) => ({
  data: ids.map((id) => ({ type, id })),
});
const bindings = () => ({
  data: [
    { type: "tag-bindings", attributes: { key: unusedName("key"), value: "1" } },
    { type: "tag-bindings", attributes: { key: unusedName("key"), value: "2" } },
  ],
});

const newNamed = async () => {
  const { id: workspaceId, attributes } = await newWorkspace({ organization, owner });
  return { workspaceId, name: attributes.name };
};
const inNew = async (): Promise<Call> => ({ ids: await newNamed() });
const newBindings = async (): Promise<Call> => ({ ...(await inNew()), body: bindings() });
const newProjectBindings = async (): Promise<Call> => ({
  ids: { projectId: (await newProject({ organization, owner })).id },
  body: bindings(),
});
const unlocked = async (): Promise<Call> => {
  await owner.api.post(`/workspaces/${objects.workspaceId}/actions/unlock`);
  return {};
};
const locked = async (): Promise<Call> => {
  await owner.api.post(`/workspaces/${objects.workspaceId}/actions/lock`);
  return {};
};
const newTeamId = () => inOrganization("teams", { name: unusedName("team") });
const newMember = async () => {
  const user = await newUser(stack);
  const invited = await inOrganization("organization-memberships", {
    email: `${user.username}@example.com`,
  });
  await expectStatus(200, user.api.post(`/organization-memberships/${invited}/actions/accept`));
  return { ...user, membershipId: invited };
};
const subject = async (): Promise<Call> => ({ ids: { userId: (await newUser(stack)).id } });
const described = () => ({ description: unusedName("changed") });
const changed = (type: string, attributes: Record<string, unknown> = described()) => ({
  body: document(type, attributes),
});
const retention = () =>
  document("data-retention-policy-delete-olders", {
    "delete-older-than-n-days": 1 + Math.floor(Math.random() * 1000),
  });
const kept = (path: string) => async (): Promise<Call> => {
  await made(`${path}/relationships/data-retention-policy`, retention());
  return {};
};
const newToken = async (path: string) => made(path, document("authentication-tokens", {}));

let serial = 100;
const lineage = crypto.randomUUID();
/** Returns a state that differs from the one before. The first one replaces the state of another lineage. */
const nextState = () => stateFile({ lineage, serial: ++serial });

/** A workspace with two versions of which the older one can be deleted. */
const withOldVersion = async (): Promise<{ ids: ObjectIds }> => {
  const { workspaceId } = await newNamed();
  const first = stateFile();
  const { body } = await writeState(owner.api, workspaceId, first);
  const second = stateFile({ lineage: first.lineage, serial: 2, resources: 1 });
  await expectStatus(201, writeState(owner.api, workspaceId, second));
  return { ids: { workspaceId, stateVersionId: body.data.id } };
};
const deleted = async (): Promise<Call> => {
  const { ids } = await withOldVersion();
  const path = `/state-versions/${ids.stateVersionId}/actions/soft_delete_backing_data`;
  await expectStatus(200, owner.api.post(path));
  return { ids };
};
const newPeer = async () => (await newWorkspace({ organization, owner })).id as string;
const consumersOf = (workspaceId: string) =>
  `/workspaces/${workspaceId}/relationships/remote-state-consumers`;

/**
 * The transactions of each write that change or lock rows: the service of each, with its number of round trips. As a
 * rule, a transaction takes two: the first loads what the write depends on, the second writes and commits. It takes more
 * where a rule needs rows that are known only after others are loaded, or a lock or deletion before other statements.
 */
const table: Readonly<Record<string, Row>> = {
  "PATCH /account/update": ["access 2", () => changed("users", { username: unusedName("user") })],
  "POST /users/:userId/authentication-tokens": ["access 2"],
  "DELETE /authentication-tokens/:tokenId": [
    "access 2",
    async () => ({ ids: { tokenId: await newToken(`/users/${owner.id}/authentication-tokens`) } }),
  ],
  "PATCH /admin/general-settings": [
    "workspaces 2",
    () => changed("general-settings", { "default-remote-state-access": Math.random() < 0.5 }),
  ],
  "PATCH /admin/organizations/:organizationName": ["workspaces 4, state 3"],
  "DELETE /admin/organizations/:organizationName": [
    "workspaces 2, access 11, workspaces 2, workspaces 12",
    async () => ({ ids: { organizationName: await newOrganization(owner.api) } }),
  ],
  "POST /admin/users": ["access 2"],
  "DELETE /admin/users/:userId": ["access 5", subject],
  "POST /admin/users/:userId/actions/suspend": ["access 2", subject],
  "POST /admin/users/:userId/actions/unsuspend": ["access 2", subject],
  "POST /admin/users/:userId/actions/grant_admin": ["access 2", subject],
  "POST /admin/users/:userId/actions/revoke_admin": ["access 2", subject],
  "POST /organizations": ["workspaces 2, access 4, workspaces 1"],
  "PATCH /organizations/:organizationName": [
    "workspaces 2",
    () => changed("organizations", { email: `${unusedName("mail")}@example.com` }),
  ],
  "PUT /organizations/:organizationName": [
    "workspaces 2",
    () => changed("organizations", { email: `${unusedName("mail")}@example.com` }),
  ],
  "DELETE /organizations/:organizationName": [
    "workspaces 2, access 11, workspaces 2, workspaces 12",
    async () => ({ ids: { organizationName: await newOrganization(owner.api) } }),
  ],
  "POST /organizations/:organizationName/agent-pools": ["workspaces 2"],
  "PATCH /agent-pools/:agentPoolId": ["workspaces 2"],
  "DELETE /agent-pools/:agentPoolId": [
    "workspaces 3",
    async () => ({
      ids: { agentPoolId: await inOrganization("agent-pools", { name: unusedName("pool") }) },
    }),
  ],
  "POST /organizations/:organizationName/organization-memberships": ["access 4"],
  "DELETE /organization-memberships/:membershipId": [
    "access 4",
    async () => ({ ids: { membershipId: (await newMember()).membershipId } }),
  ],
  "POST /organization-memberships/:membershipId/actions/accept": [
    "access 3",
    async () => {
      const { api, username } = await newUser(stack);
      const email = `${username}@example.com`;
      return {
        api,
        ids: { membershipId: await inOrganization("organization-memberships", { email }) },
      };
    },
  ],
  "POST /organizations/:organizationName/authentication-token": ["access 3"],
  "DELETE /organizations/:organizationName/authentication-token": [
    "access 3",
    async () => {
      await newToken(`/organizations/${organization}/authentication-token`);
      return {};
    },
  ],
  "PATCH /organizations/:organizationName/token-ttl-policies": [
    "access 3",
    () =>
      changed("organization-token-ttl-policies", {
        "token-ttl-policies": ["team", "user"].map((type) => ({
          "token-type": type,
          "max-ttl-ms": 3_600_000 * (24 * 365 + Math.floor(Math.random() * 1000)),
        })),
      }),
  ],
  "POST /organizations/:organizationName/teams": ["access 2"],
  "PATCH /teams/:teamId": ["access 2", () => changed("teams", { name: unusedName("team") })],
  "DELETE /teams/:teamId": ["access 4", async () => ({ ids: { teamId: await newTeamId() } })],
  "POST /teams/:teamId/relationships/users": [
    "access 5",
    async () => ({ body: identifiers("users", (await newMember()).username) }),
  ],
  "DELETE /teams/:teamId/relationships/users": [
    "access 5",
    async () => {
      const body = identifiers("users", (await newMember()).username);
      await made(`/teams/${objects.teamId}/relationships/users`, body);
      return { body };
    },
  ],
  "POST /teams/:teamId/relationships/organization-memberships": [
    "access 5",
    async () => ({
      body: identifiers("organization-memberships", (await newMember()).membershipId),
    }),
  ],
  "DELETE /teams/:teamId/relationships/organization-memberships": [
    "access 5",
    async () => {
      const body = identifiers("organization-memberships", (await newMember()).membershipId);
      await made(`/teams/${objects.teamId}/relationships/organization-memberships`, body);
      return { body };
    },
  ],
  "POST /teams/:teamId/authentication-token": ["access 3"],
  "DELETE /teams/:teamId/authentication-token": [
    "access 3",
    async () => {
      await newToken(`/teams/${objects.teamId}/authentication-token`);
      return {};
    },
  ],
  "POST /teams/:teamId/authentication-tokens": ["access 2"],
  "DELETE /organizations/:organizationName/team-tokens": [
    "access 4",
    async () => {
      const id = await newToken(`/teams/${objects.teamId}/authentication-token`);
      return { body: identifiers("authentication-tokens", id) };
    },
  ],
  "POST /team-projects": [
    "access 2",
    async () => ({ body: projectAccess(await newTeamId(), objects.projectId) }),
  ],
  "PATCH /team-projects/:teamProjectId": ["access 2"],
  "DELETE /team-projects/:teamProjectId": [
    "access 2",
    async () => {
      const access = projectAccess(await newTeamId(), objects.projectId);
      return { ids: { teamProjectId: await made("/team-projects", access) } };
    },
  ],
  "POST /team-workspaces": [
    "access 2",
    async () => ({ body: workspaceAccess(await newTeamId(), objects.workspaceId) }),
  ],
  "PATCH /team-workspaces/:teamWorkspaceId": ["access 2"],
  "DELETE /team-workspaces/:teamWorkspaceId": [
    "access 2",
    async () => {
      const access = workspaceAccess(await newTeamId(), objects.workspaceId);
      return { ids: { teamWorkspaceId: await made("/team-workspaces", access) } };
    },
  ],
  "POST /organizations/:organizationName/projects": ["workspaces 2"],
  "PATCH /projects/:projectId": [
    "workspaces 2",
    () => changed("projects", { name: unusedName("project"), ...described() }),
  ],
  "POST /projects/:projectId/relationships/workspaces": [
    "workspaces 3, state 4, workspaces 1",
    async () => ({ body: identifiers("workspaces", await newPeer()) }),
  ],
  "DELETE /projects/:projectId": [
    "workspaces 4",
    async () => ({ ids: { projectId: (await newProject({ organization, owner })).id } }),
  ],
  "POST /organizations/:organizationName/workspaces": ["workspaces 2"],
  "PATCH /workspaces/:workspaceId": [
    "workspaces 3",
    () => changed("workspaces", { name: unusedName("workspace"), ...described() }),
  ],
  "DELETE /workspaces/:workspaceId": ["workspaces 4, state 4, workspaces 1", inNew],
  "PATCH /organizations/:organizationName/workspaces/:name": [
    "workspaces 4",
    async () => ({ ...(await inNew()), ...changed("workspaces") }),
  ],
  "DELETE /organizations/:organizationName/workspaces/:name": [
    "workspaces 5, state 4, workspaces 1",
    inNew,
  ],
  "POST /workspaces/:workspaceId/actions/safe-delete": [
    "workspaces 2, state 6, workspaces 3, state 2, workspaces 1",
    inNew,
  ],
  "POST /organizations/:organizationName/workspaces/:name/actions/safe-delete": [
    "workspaces 3, state 6, workspaces 3, state 2, workspaces 1",
    inNew,
  ],
  "POST /workspaces/:workspaceId/actions/lock": ["workspaces 2", unlocked],
  "POST /workspaces/:workspaceId/actions/unlock": ["state 2, workspaces 2", locked],
  "POST /workspaces/:workspaceId/actions/force-unlock": ["state 2, workspaces 2", locked],
  "PATCH /workspaces/:workspaceId/relationships/remote-state-consumers": [
    "workspaces 4",
    async () => ({ body: identifiers("workspaces", await newPeer()) }),
  ],
  "POST /workspaces/:workspaceId/relationships/remote-state-consumers": [
    "workspaces 4",
    async () => ({ body: identifiers("workspaces", await newPeer()) }),
  ],
  "DELETE /workspaces/:workspaceId/relationships/remote-state-consumers": [
    "workspaces 5",
    async () => {
      const body = identifiers("workspaces", await newPeer());
      await made(consumersOf(objects.workspaceId ?? ""), body);
      return { body };
    },
  ],
  "POST /organizations/:organizationName/ssh-keys": [
    "workspaces 2",
    () => changed("ssh-keys", { name: unusedName("key"), value: "a key" }),
  ],
  "PATCH /ssh-keys/:sshKeyId": [
    "workspaces 2",
    () => changed("ssh-keys", { name: unusedName("key") }),
  ],
  "DELETE /ssh-keys/:sshKeyId": [
    "workspaces 2",
    async () => ({
      ids: {
        sshKeyId: await inOrganization("ssh-keys", { name: unusedName("key"), value: "a key" }),
      },
    }),
  ],
  "PATCH /workspaces/:workspaceId/relationships/ssh-key": [
    "workspaces 3",
    async () => ({ ...(await inNew()), ...changed("workspaces", { id: objects.sshKeyId }) }),
  ],
  "POST /workspaces/:workspaceId/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => ({ body: retention() }),
  ],
  "PATCH /workspaces/:workspaceId/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => ({ body: retention() }),
  ],
  "DELETE /workspaces/:workspaceId/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => kept(`/workspaces/${objects.workspaceId}`)(),
  ],
  "POST /organizations/:organizationName/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => ({ body: retention() }),
  ],
  "PATCH /organizations/:organizationName/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => ({ body: retention() }),
  ],
  "DELETE /organizations/:organizationName/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => kept(`/organizations/${organization}`)(),
  ],
  "POST /admin/general-settings/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => ({ body: retention() }),
  ],
  "PATCH /admin/general-settings/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    () => ({ body: retention() }),
  ],
  "DELETE /admin/general-settings/relationships/data-retention-policy": [
    "workspaces 4, state 3",
    kept("/admin/general-settings"),
  ],
  "POST /workspaces/:workspaceId/relationships/tags": ["workspaces 6", inNew],
  "DELETE /workspaces/:workspaceId/relationships/tags": [
    "workspaces 6",
    async () => {
      const body = { data: [{ type: "tags", attributes: { name: unusedName("tag") } }] };
      await made(`/workspaces/${objects.workspaceId}/relationships/tags`, body);
      return { body };
    },
  ],
  "DELETE /organizations/:organizationName/tags": [
    "workspaces 5",
    async () => {
      const name = unusedName("tag");
      const body = { data: [{ type: "tags", attributes: { name } }] };
      await made(`/workspaces/${objects.workspaceId}/relationships/tags`, body);
      const tags = await owner.api.get(`/organizations/${organization}/tags?q=${name}`);
      return { body: identifiers("tags", tags.body.data[0].id) };
    },
  ],
  "POST /tags/:tagId/relationships/workspaces": [
    "workspaces 13",
    async () => ({ body: identifiers("workspaces", await newPeer(), await newPeer()) }),
  ],
  "POST /organizations/:organizationName/reserved-tag-keys": ["workspaces 2"],
  "PATCH /reserved-tag-keys/:reservedTagKeyId": [
    "workspaces 2",
    () => changed("reserved-tag-keys", { key: unusedName("key") }),
  ],
  "DELETE /reserved-tag-keys/:reservedTagKeyId": [
    "workspaces 2",
    async () => ({
      ids: {
        reservedTagKeyId: await inOrganization("reserved-tag-keys", { key: unusedName("key") }),
      },
    }),
  ],
  "POST /projects/:projectId/relationships/tag-bindings": ["workspaces 4", newProjectBindings],
  "POST /workspaces/:workspaceId/relationships/tag-bindings": ["workspaces 5", newBindings],
  "PATCH /projects/:projectId/relationships/tag-bindings": ["workspaces 4", newProjectBindings],
  "PATCH /workspaces/:workspaceId/relationships/tag-bindings": ["workspaces 5", newBindings],
  "PATCH /projects/:projectId/tag-bindings": ["workspaces 4", newProjectBindings],
  "PATCH /workspaces/:workspaceId/tag-bindings": ["workspaces 5", newBindings],
  "POST /workspaces/:workspaceId/state-versions": [
    "state 2, state 2",
    async () => ({ ...(await locked()), body: inlineState(nextState(), { force: true }) }),
  ],
  "PATCH /workspaces/:workspaceId/state-versions": [
    "state 11",
    async () => {
      const { ids } = await withOldVersion();
      await expectStatus(200, owner.api.post(`/workspaces/${ids.workspaceId}/actions/lock`));
      return { ids, body: rollbackTo(ids.stateVersionId ?? "") };
    },
  ],
  "POST /state-versions/:stateVersionId/actions/soft_delete_backing_data": [
    "state 3",
    withOldVersion,
  ],
  "POST /state-versions/:stateVersionId/actions/restore_backing_data": ["state 3", deleted],
  "POST /state-versions/:stateVersionId/actions/permanently_delete_backing_data": [
    "state 9",
    deleted,
  ],
};

const textOf = ({ changes }: RequestCost): string =>
  changes.map(({ service, roundTrips }) => `${service} ${roundTrips}`).join(", ");

const writes = new Map(
  routes
    .filter(({ method }) => method !== "GET")
    .map((route) => [`${route.method} ${route.path.replace("/api/v2", "")}`, route]),
);

describe("the write transactions of a request", () => {
  beforeAll(async () => {
    stack = await startStack({ blobs: "directory" });
    owner = await newUser(stack, { administrator: true });
    organization = await waitFor(() => newOrganization(owner.api));
    objects = await createObjects({ organization, owner });
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  test("every route that writes has a row", () => {
    expect(Object.keys(table).toSorted()).toEqual([...writes.keys()].toSorted());
  });

  test.each(Object.entries(table))("%s", async (name, [expected, arrange]) => {
    const route = writes.get(name);
    if (!route) throw new Error(`no route ${name}`);
    const [status] = [route.success].flat();
    const request = async () => {
      const { ids, body, api = owner.api }: Call = (await arrange?.()) ?? {};
      const all = { ...objects, ...ids };
      const path = `${stack.url}${pathWith(route, all)}`;
      return () =>
        expectStatus(Number(status), api.send(route.method, path, body ?? bodyFor(route, all)));
    };
    const cost = await costAfter(request, (measured) => textOf(measured) === expected);
    expect(textOf(cost)).toBe(expected);
  });
});
