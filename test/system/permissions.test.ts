import { beforeAll, describe, expect, test } from "vitest";
import { organizationPermissions } from "../../services/gateway/resources/organizations.ts";
import type { PermissionTable } from "../../services/gateway/resources/permissions.ts";
import { projectPermissions } from "../../services/gateway/resources/projects.ts";
import { type Answer, document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { expectStatus, inlineState, stateFile, writeState } from "../stack/state.ts";
import { type Actor, newActor, organizationTokenActor, plainActor, roles } from "./actors.ts";
import { newParty, useWorld } from "./fixture.ts";

const world = useWorld();

/** Tries what a flag is about, on something new that the actor has its grants on. */
type Attempt = (actor: Actor, target: string) => Promise<Answer>;

/** Whether it was let through: not found and forbidden are refusals, every other answer is about the matter. */
const letThrough = ({ status }: Answer): boolean => ![401, 403, 404].includes(status);

const workspaces = (attributes: Record<string, unknown>) => document("workspaces", attributes);
const flatTag = () => ({ data: [{ type: "tags", attributes: { name: unusedName("tag") } }] });
const outputs = { text: { value: "a", type: "string" } };

const lockedByOwner = async ({ owner }: Actor, id: string) =>
  expectStatus(200, owner.api.post(`/workspaces/${id}/actions/lock`));
const withState = async ({ owner }: Actor, id: string) =>
  expectStatus(201, writeState(owner.api, id, stateFile({ outputs })));

/** What each flag of a workspace's document is about. Those without an endpoint here are named below. */
const onWorkspace: Record<string, Attempt> = {
  "can-update": ({ api }, id) =>
    api.patch(`/workspaces/${id}`, workspaces({ description: "changed" })),
  "can-destroy": ({ api }, id) => api.post(`/workspaces/${id}/actions/safe-delete`),
  "can-force-delete": ({ api }, id) => api.delete(`/workspaces/${id}`),
  "can-read-run": ({ api }, id) => api.get(`/workspaces/${id}`),
  "can-read-settings": ({ api }, id) => api.get(`/workspaces/${id}`),
  "can-read-state-versions": async (actor, id) => {
    await withState(actor, id);
    return actor.api.get(`/workspaces/${id}/current-state-version`);
  },
  "can-read-state-outputs": ({ api }, id) =>
    api.get(`/workspaces/${id}/current-state-version-outputs`),
  // 412 while nobody holds the lock: who may write hears that, others nothing.
  "can-create-state-versions": async ({ api }, id) => {
    await api.post(`/workspaces/${id}/actions/lock`);
    return api.post(`/workspaces/${id}/state-versions`, inlineState(stateFile()));
  },
  "can-lock": ({ api }, id) => api.post(`/workspaces/${id}/actions/lock`),
  "can-unlock": async ({ api }, id) => {
    await api.post(`/workspaces/${id}/actions/lock`);
    return api.post(`/workspaces/${id}/actions/unlock`);
  },
  "can-force-unlock": async (actor, id) => {
    await lockedByOwner(actor, id);
    return actor.api.post(`/workspaces/${id}/actions/force-unlock`);
  },
  "can-manage-tags": ({ api }, id) => api.post(`/workspaces/${id}/relationships/tags`, flatTag()),
  "can-manage-ephemeral-workspaces": ({ api }, id) =>
    api.patch(`/workspaces/${id}`, workspaces({ "auto-destroy-activity-duration": "1d" })),
};

/** What is a record of others here, or nothing: runs, variables, registries, policies, stacks, … */
const withoutEndpoint = {
  workspace: [
    "can-queue-destroy",
    "can-queue-run",
    "can-queue-apply",
    "can-read-variable",
    "can-update-variable",
    "can-manage-run-tasks",
    "can-manage-assessments",
    "can-read-assessment-results",
  ],
  project: Object.keys(projectPermissions).filter((flag) => nobody(projectPermissions, flag)),
  organization: Object.keys(organizationPermissions).filter((flag) =>
    nobody(organizationPermissions, flag),
  ),
};

function nobody(table: PermissionTable, flag: string): boolean {
  return table[flag] === null;
}

const grantTo = (teamId: string, projectId: string) =>
  document(
    "team-projects",
    { access: "read" },
    {
      team: { data: { type: "teams", id: teamId } },
      project: { data: { type: "projects", id: projectId } },
    },
  );
const newTeam = async ({ owner, organization }: Actor): Promise<string> => {
  const body = document("teams", { name: unusedName("team"), visibility: "organization" });
  return (await expectStatus(201, owner.api.post(`/organizations/${organization}/teams`, body)))
    .body.data.id;
};

const onProject: Record<string, Attempt> = {
  "can-read": ({ api }, id) => api.get(`/projects/${id}`),
  "can-update": ({ api }, id) =>
    api.patch(`/projects/${id}`, document("projects", { description: "changed" })),
  "can-destroy": ({ api }, id) => api.delete(`/projects/${id}`),
  "can-create-workspace": ({ api, organization }, id) =>
    api.post(
      `/organizations/${organization}/workspaces`,
      document("workspaces", { name: unusedName("made") }, project(id)),
    ),
  "can-move-workspace": async (actor, id) => {
    const workspaceId = await actor.workspace(id);
    const body = document("workspaces", {}, project(await actor.project()));
    return actor.api.patch(`/workspaces/${workspaceId}`, body);
  },
  "can-read-teams": async (actor, id) => {
    const body = grantTo(await newTeam(actor), id);
    const { body: made } = await expectStatus(200, actor.owner.api.post("/team-projects", body));
    return actor.api.get(`/team-projects/${made.data.id}`);
  },
  "can-manage-teams": async (actor, id) =>
    actor.api.post("/team-projects", grantTo(await newTeam(actor), id)),
  "can-manage-tags": ({ api }, id) =>
    api.patch(`/projects/${id}/tag-bindings`, {
      data: [{ type: "tag-bindings", attributes: { key: "a", value: "b" } }],
    }),
};

function project(id: string) {
  return { project: { data: { type: "projects", id } } };
}

const inOrganization =
  (tail: string, body: () => unknown): Attempt =>
  ({ api, organization }) =>
    api.post(`/organizations/${organization}${tail}`, body());
const named = (type: string, more: Record<string, unknown> = {}) =>
  inOrganization(`/${type}`, () => document(type, { name: unusedName("made"), ...more }));
/** Not the slot that an actor's own token is in. */
const otherToken = "/authentication-token?token=audit-trails";

const onOrganization: Record<string, Attempt> = {
  "can-update": ({ api, organization }) =>
    api.patch(
      `/organizations/${organization}`,
      document("organizations", { email: "changed@example.com" }),
    ),
  "can-update-authentication-token": inOrganization(otherToken, () => undefined),
  "can-update-api-token": inOrganization(otherToken, () => undefined),
  "can-view-authentication": async ({ api, owner, organization }) => {
    await expectStatus(201, owner.api.post(`/organizations/${organization}${otherToken}`));
    return api.get(`/organizations/${organization}${otherToken}`);
  },
  "can-access-via-teams": ({ api, organization }) => api.get(`/organizations/${organization}`),
  "can-traverse": ({ api, organization }) => api.get(`/organizations/${organization}/projects`),
  "can-create-team": named("teams"),
  "can-create-project": named("projects"),
  // In the organization's default project, or else in one that the actor has a grant on.
  "can-create-workspace": async (actor) => {
    const anywhere = await named("workspaces")(actor, "");
    if (letThrough(anywhere)) return anywhere;
    return onProject["can-create-workspace"]?.(actor, actor.projectId) ?? anywhere;
  },
  "can-manage-users": inOrganization("/organization-memberships", () =>
    document("organization-memberships", { email: `${unusedName("guest")}@example.com` }),
  ),
  "can-view-users": ({ api, organization }) =>
    api.get(`/organizations/${organization}/organization-memberships`),
  "can-update-ssh-keys": named("ssh-keys", { value: "a key" }),
  "can-update-agent-pools": named("agent-pools"),
  "can-manage-tags": async ({ api, owner, organization }, workspaceId) => {
    await expectStatus(
      204,
      owner.api.post(`/workspaces/${workspaceId}/relationships/tags`, flatTag()),
    );
    const { body } = await owner.api.get(`/workspaces/${workspaceId}/relationships/tags`);
    const [{ id }] = body.data;
    return api.delete(`/organizations/${organization}/tags`, { data: [{ type: "tags", id }] });
  },
  "can-destroy": ({ api, organization }) => api.delete(`/organizations/${organization}`),
};

const team = (attributes: Record<string, unknown>) => document("teams", attributes);
const patchTeam =
  (attributes: () => Record<string, unknown>): Attempt =>
  ({ api }, id) =>
    api.patch(`/teams/${id}`, team(attributes()));

const onTeam: Record<string, Attempt> = {
  "can-update": patchTeam(() => ({})),
  "can-update-name": patchTeam(() => ({ name: unusedName("renamed") })),
  "can-update-visibility": patchTeam(() => ({ visibility: "organization" })),
  "can-update-sso-team-id": patchTeam(() => ({ "sso-team-id": "an-id" })),
  "can-update-member-token-management": patchTeam(() => ({
    "allow-member-token-management": true,
  })),
  "can-update-organization-access": patchTeam(() => ({
    "organization-access": { "read-projects": true },
  })),
  "can-update-membership": async ({ api, organization, owner }, id) => {
    const person = await newParty(world().stack);
    const { username } = person;
    const invited = await expectStatus(
      201,
      owner.api.post(
        `/organizations/${organization}/organization-memberships`,
        document("organization-memberships", { email: `${username}@example.com` }),
      ),
    );
    const membership = `/organization-memberships/${invited.body.data.id}`;
    await expectStatus(200, person.api.post(`${membership}/actions/accept`));
    return api.post(`/teams/${id}/relationships/users`, {
      data: [{ type: "users", id: username }],
    });
  },
  "can-update-api-token": ({ api }, id) => api.post(`/teams/${id}/authentication-token`),
  "can-view-api-token": async ({ api, owner }, id) => {
    await expectStatus(201, owner.api.post(`/teams/${id}/authentication-token`));
    return api.get(`/teams/${id}/authentication-token`);
  },
  "can-destroy": ({ api }, id) => api.delete(`/teams/${id}`),
};

/** The flags of a document as the actor sees it; none when it may not see it. */
async function flagsOf({ api }: Actor, path: string): Promise<Record<string, boolean> | undefined> {
  const { status, body } = await api.get(path);
  if (status === 404) return undefined;
  expect(status).toBe(200);
  return body.data.attributes.permissions;
}

/** What an attempt changes so that the next would not be about rights any more. */
const spoiling = [
  "can-destroy",
  "can-force-delete",
  "can-create-state-versions",
  "can-lock",
  "can-unlock",
  "can-force-unlock",
  "can-move-workspace",
];

/** Tries everything and answers with what was let through against what was said. */
async function compare(
  actor: Actor,
  attempts: Record<string, Attempt>,
  { target, path }: { target: () => Promise<string>; path: (id: string) => string },
): Promise<{ said: Record<string, boolean>; done: Record<string, boolean> }> {
  const shared = await target();
  const said: Record<string, boolean> = {};
  const done: Record<string, boolean> = {};
  const flags = await flagsOf(actor, path(shared));
  for (const [flag, attempt] of Object.entries(attempts)) {
    said[flag] = flags?.[flag] ?? false;
    done[flag] = letThrough(
      await attempt(actor, spoiling.includes(flag) ? await target() : shared),
    );
  }
  return { said, done };
}

const everybody: [string, () => Promise<Actor>][] = [
  ["owner", () => plainActor(world(), world().owner)],
  ["organization token", () => organizationTokenActor(world())],
  ...[...roles].map(([name, role]): [string, () => Promise<Actor>] => [
    name,
    () => newActor(world(), role),
  ]),
  ["stranger", () => plainActor(world(), world().stranger)],
];

describe.each(everybody)("%s", (_, newActor) => {
  let actor: Actor;
  beforeAll(async () => {
    actor = await newActor();
  });

  test("may do to a workspace what its document says, and nothing else", async () => {
    const { said, done } = await compare(actor, onWorkspace, {
      target: () => actor.workspace(),
      path: (id) => `/workspaces/${id}`,
    });
    expect(done).toEqual(said);
  });

  test("may do to a project what its document says, and nothing else", async () => {
    const { said, done } = await compare(actor, onProject, {
      target: () => actor.project(),
      path: (id) => `/projects/${id}`,
    });
    expect(done).toEqual(said);
  });

  test("may do in the organization what its document says, and nothing else", async () => {
    const path = () => `/organizations/${actor.organization}`;
    const { "can-destroy": destroy, ...others } = onOrganization;
    const { said, done } = await compare(actor, others, { target: () => actor.workspace(), path });
    expect(done).toEqual(said);
    // The world goes on: who may delete it tries that on another one.
    const flags = await flagsOf(actor, path());
    if (!flags?.["can-destroy"]) expect((await destroy?.(actor, ""))?.status).toBe(404);
  });

  test("may do to a team what its document says, and nothing else", async () => {
    const { said, done } = await compare(actor, onTeam, {
      target: () => newTeam(actor),
      path: (id) => `/teams/${id}`,
    });
    expect(done).toEqual(said);
  });
});

test("every flag of every document is tried here, or is of something that has no endpoint", async () => {
  const actor = await plainActor(world(), world().owner);
  const documents: [string, Record<string, Attempt>, readonly string[]][] = [
    [`/workspaces/${await actor.workspace()}`, onWorkspace, withoutEndpoint.workspace],
    [`/projects/${actor.projectId}`, onProject, withoutEndpoint.project],
    [`/organizations/${actor.organization}`, onOrganization, withoutEndpoint.organization],
    [`/teams/${await newTeam(actor)}`, onTeam, []],
  ];
  for (const [path, attempts, without] of documents) {
    const flags = (await flagsOf(actor, path)) ?? {};
    expect(Object.keys(flags).toSorted(), path).toEqual(
      [...Object.keys(attempts), ...without].toSorted(),
    );
    for (const flag of Object.keys(attempts)) expect(flags[flag], `${path} ${flag}`).toBe(true);
  }
});

test("a list says of each document what the document says", async () => {
  const project = { access: "custom", "workspace-access": { locking: true } };
  const actor = await newActor(world(), { project });
  const id = await actor.workspace();
  const shown = await actor.api.get(`/workspaces/${id}`);
  const listed = await actor.api.get(`/organizations/${actor.organization}/workspaces`);
  expect(listed.body.data).toEqual([shown.body.data]);
  const projects = await actor.api.get(`/organizations/${actor.organization}/projects`);
  const itself = await actor.api.get(`/projects/${actor.projectId}`);
  expect(projects.body.data).toEqual([itself.body.data]);
});

test.each([
  ["owner", "the owner"],
  ["organization token", "the organization's token"],
])("an organization is deleted by its %s, as its document says", async (kind) => {
  const { owner } = world();
  const organization = await newOrganization(owner.api);
  const one = { ...world(), organization };
  const actor = await (kind === "owner" ? plainActor(one, owner) : organizationTokenActor(one));
  const flags = await flagsOf(actor, `/organizations/${organization}`);
  expect(flags?.["can-destroy"]).toBe(true);
  expect((await actor.api.delete(`/organizations/${organization}`)).status).toBe(204);
});

test("the team of owners keeps its name and stays, as its document says", async () => {
  const { owner, organization } = world();
  const { body } = await owner.api.get(`/organizations/${organization}/teams?filter[names]=owners`);
  const [{ id, attributes }] = body.data;
  const refused = ["can-update-name", "can-destroy"];
  for (const [flag, said] of Object.entries(attributes.permissions)) {
    expect(said, flag).toBe(!refused.includes(flag));
  }
  const actor = await plainActor(world(), owner);
  for (const [flag, attempt] of Object.entries(onTeam)) {
    const { status } = await attempt(actor, id);
    if (refused.includes(flag)) expect(status, flag).toBe(409);
    else expect(status, flag).toBeLessThan(300);
  }
});

test.each([
  ["project maintain", true],
  ["workspace admin", true],
  ["manage-workspaces", true],
  ["project write", false],
])("with force deletion allowed to workspace admins, %s: %s", async (name, allowed) => {
  const { owner } = world();
  const organization = await newOrganization(owner.api);
  await expectStatus(
    200,
    owner.api.patch(
      `/organizations/${organization}`,
      document("organizations", { "allow-force-delete-workspaces": true }),
    ),
  );
  const actor = await newActor({ ...world(), organization }, roles.get(name) ?? {});
  const id = await actor.workspace();
  const flags = await flagsOf(actor, `/workspaces/${id}`);
  expect(flags?.["can-force-delete"]).toBe(allowed);
  expect((await actor.api.delete(`/workspaces/${id}`)).status).toBe(allowed ? 204 : 403);
});

test("an account's document says what a person and a token may do with it", async () => {
  const person = await newParty(world().stack);
  const actor = await organizationTokenActor(world());
  for (const { api } of [person, actor]) {
    const { body } = await api.get("/account/details");
    const { id, attributes } = body.data;
    const done = {
      "can-create-organizations": await api.post(
        "/organizations",
        document("organizations", { name: unusedName("org"), email: "a@example.com" }),
      ),
      "can-view-organizations": await api.get("/organizations"),
      "can-view-profile": await api.get("/account/details"),
      "can-change-email": await api.patch(
        "/account/update",
        document("users", { email: `${unusedName("changed")}@example.com` }),
      ),
      "can-change-username": await api.patch(
        "/account/update",
        document("users", { username: unusedName("changed") }),
      ),
      "can-manage-user-tokens": await api.post(
        `/users/${id}/authentication-tokens`,
        document("authentication-tokens", {}),
      ),
    };
    for (const [flag, answer] of Object.entries(done)) {
      expect(letThrough(answer), flag).toBe(attributes.permissions[flag]);
    }
  }
});
