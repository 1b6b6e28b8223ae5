import { proves } from "@statehouse/testing/proves";
import { beforeAll, describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { type TeamRole, teamRole, teamRoles } from "../stack/roles.ts";
import { expectStatus } from "../stack/state.ts";
import { type Actor, newActor, organizationTokenActor, plainActor } from "./actors.ts";
import { newUser, useFixture } from "./fixture.ts";
import {
  type Attempt,
  isAllowed,
  onOrganization,
  onProject,
  onTeam,
  onWorkspace,
  openTeam,
  withoutEndpoint,
} from "./permission-attempts.ts";

const fixture = useFixture();

/** Returns the flags of a document as the actor reads it; undefined if the actor is not allowed to read it. */
async function flagsOf({ api }: Actor, path: string): Promise<Record<string, boolean> | undefined> {
  const { status, body } = await api.get(path);
  if (status === 404) return undefined;
  expect(status).toBe(200);
  return body.data.attributes.permissions;
}

/**
 * Flags whose action, if it is authorized, changes the object: a later attempt on the same object could then fail for a
 * reason other than permissions.
 */
const spoiling = ["can-destroy", "can-force-delete", "can-lock"];
/** Flags whose attempt locks the object first. */
const locking = ["can-create-state-versions", "can-unlock", "can-force-unlock"];

/**
 * Tries the action of every flag. Returns the flags that the document shows, and whether each action was authorized.
 */
async function compare(
  actor: Actor,
  attempts: Record<string, Attempt>,
  { target, path }: { target: () => Promise<string>; path: (id: string) => string },
): Promise<{ said: Record<string, boolean>; done: Record<string, boolean> }> {
  let id = await target();
  const said: Record<string, boolean> = {};
  const done: Record<string, boolean> = {};
  const flags = await flagsOf(actor, path(id));
  for (const [flag, attempt] of Object.entries(attempts)) {
    said[flag] = flags?.[flag] ?? false;
    done[flag] = isAllowed(await attempt(actor, id));
    if (locking.includes(flag) || (done[flag] && spoiling.includes(flag))) id = await target();
  }
  return { said, done };
}

type ActorCase = [string, () => Promise<Actor>];

const caseOf = (role: TeamRole): ActorCase => [role.name, () => newActor(fixture(), role)];

// The matrix calls each route with every role. Here, a role is tried on the documents whose flags it can change: a role
// on a workspace changes no flags of a project, and a role on a project changes none of a team.
const onWorkspaces = teamRoles.filter((role) => role.onWorkspace);
const onProjects = teamRoles.filter((role) => role.onProject);
const others = teamRoles.filter((role) => !role.onWorkspace && !role.onProject);

const all: ActorCase[] = [
  ["owner", () => plainActor(fixture(), fixture().owner)],
  ["organization token", () => organizationTokenActor(fixture())],
  ...others.map(caseOf),
  ["stranger", () => plainActor(fixture(), fixture().outsider)],
];

describe.each([...all, ...[...onProjects, ...onWorkspaces].map(caseOf)])("%s", (_, newActor) => {
  test("may do to a workspace exactly what its document says", async () => {
    proves(
      "Team project implied permissions/effective access",
      "Authentication/1 viewing workspaces",
      "Authentication/2 changing settings, force-unlocking",
      "Authentication/3 lock and unlock",
      "Authentication/7 create state version, rollback",
      "Authentication/8 list, fetch, show state versions",
      "Workspace rights/viewing",
      "Workspace rights/settings and force-unlock",
      "Workspace rights/lock and unlock",
    );
    const actor = await newActor();
    const { said, done } = await compare(actor, onWorkspace, {
      target: () => actor.workspace(),
      path: (id) => `/workspaces/${id}`,
    });
    expect(done).toEqual(said);
  });
});

describe.each([...all, ...onProjects.map(caseOf)])("%s", (_, newActor) => {
  let actor: Actor;
  beforeAll(async () => {
    actor = await newActor();
  });

  test("may do to a project exactly what its document says", async () => {
    proves("Team project implied permissions/effective access", "Workspace rights/creating");
    const { said, done } = await compare(actor, onProject, {
      target: () => actor.project(),
      path: (id) => `/projects/${id}`,
    });
    expect(done).toEqual(said);
  });

  test("may do in the organization exactly what its document says", async () => {
    proves(
      "Authentication/4 creating a workspace",
      "Teams and users/teams: each organization-access flag",
      "Versioning/2023-01-18",
      "Workspace rights/creating",
    );
    const path = () => `/organizations/${actor.organization}`;
    const { "can-destroy": destroy, ...others } = onOrganization;
    const { said, done } = await compare(actor, others, { target: () => actor.workspace(), path });
    expect(done).toEqual(said);
    // Deletion is tried here only for callers that are not allowed to delete the organization, because later tests need
    // the organization. The other callers are tested with another organization.
    const flags = await flagsOf(actor, path());
    if (!flags?.["can-destroy"]) expect((await destroy?.(actor, ""))?.status).toBe(404);
  });
});

describe.each(all)("%s", (_, newActor) => {
  test("may do to a team exactly what its document says", async () => {
    proves(
      "Teams and users/teams: each organization-access flag",
      "Workspace rights/permissions of each document agree with what happens",
    );
    const actor = await newActor();
    const { said, done } = await compare(actor, onTeam, {
      target: () => openTeam(actor),
      path: (id) => `/teams/${id}`,
    });
    expect(done).toEqual(said);
  });
});

test("every flag of every document is tested here or concerns a missing endpoint", async () => {
  proves("Workspace rights/permissions of each document agree with what happens");
  const actor = await plainActor(fixture(), fixture().owner);
  const documents: [string, Record<string, Attempt>, readonly string[]][] = [
    [`/workspaces/${await actor.workspace()}`, onWorkspace, withoutEndpoint.workspace],
    [`/projects/${actor.projectId}`, onProject, withoutEndpoint.project],
    [`/organizations/${actor.organization}`, onOrganization, withoutEndpoint.organization],
    [`/teams/${await openTeam(actor)}`, onTeam, []],
  ];
  for (const [path, attempts, without] of documents) {
    const flags = (await flagsOf(actor, path)) ?? {};
    expect(Object.keys(flags).toSorted(), path).toEqual(
      [...Object.keys(attempts), ...without].toSorted(),
    );
    for (const flag of Object.keys(attempts)) expect(flags[flag], `${path} ${flag}`).toBe(true);
  }
});

test("documents in lists have the same flags as single documents", async () => {
  proves("Workspace rights/permissions of each document agree with what happens");
  const role = teamRole("project workspace-access.locking=true");
  const actor = await newActor(fixture(), role);
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
])("an organization can be deleted by its %s if its document says so", async (kind) => {
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const one = { ...fixture(), organization };
  const actor = await (kind === "owner" ? plainActor(one, owner) : organizationTokenActor(one));
  const flags = await flagsOf(actor, `/organizations/${organization}`);
  expect(flags?.["can-destroy"]).toBe(true);
  expect((await actor.api.delete(`/organizations/${organization}`)).status).toBe(204);
});

test("the owners team cannot be renamed or deleted, as its document says", async () => {
  const { owner, organization } = fixture();
  const { body } = await owner.api.get(`/organizations/${organization}/teams?filter[names]=owners`);
  const [{ id, attributes }] = body.data;
  const refused = ["can-update-name", "can-destroy"];
  for (const [flag, said] of Object.entries(attributes.permissions)) {
    expect(said, flag).toBe(!refused.includes(flag));
  }
  const actor = await plainActor(fixture(), owner);
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
])("with force deletion allowed for workspace admins, %s: %s", async (name, allowed) => {
  proves(
    "Authentication/5 force delete",
    "Versioning/2022-10-17",
    "Workspace rights/force delete",
    "Organizations/allow-force-delete-workspaces",
  );
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  await expectStatus(
    200,
    owner.api.patch(
      `/organizations/${organization}`,
      document("organizations", { "allow-force-delete-workspaces": true }),
    ),
  );
  const actor = await newActor({ ...fixture(), organization }, teamRole(name));
  const id = await actor.workspace();
  const flags = await flagsOf(actor, `/workspaces/${id}`);
  expect(flags?.["can-force-delete"]).toBe(allowed);
  expect((await actor.api.delete(`/workspaces/${id}`)).status).toBe(allowed ? 204 : 403);
});

test("the account document shows what a user and a token may do with it", async () => {
  const person = await newUser(fixture().stack);
  const actor = await organizationTokenActor(fixture());
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
      expect(isAllowed(answer), flag).toBe(attributes.permissions[flag]);
    }
  }
});
