import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { projectAccess, workspaceAccess } from "../stack/team-access.ts";
import {
  errorDetails,
  newProject,
  newTeam,
  newWorkspace,
  problems,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

const grant = (projectId: string, teamId: string, attributes: Record<string, unknown>) =>
  fixture().owner.api.post("/team-projects", projectAccess(teamId, projectId, attributes));

/** The values that each access level implies; specification, "Team project access". */
const implied = {
  read: ["read", "none", "read", "none", "read", "read", false, false, false, false, false],
  write: ["read", "none", "apply", "read", "write", "write", false, true, false, false, false],
  maintain: ["read", "none", "apply", "read", "write", "write", true, true, true, false, true],
  admin: ["delete", "manage", "apply", "read", "write", "write", true, true, true, true, true],
  custom: ["read", "none", "read", "none", "none", "none", false, false, false, false, false],
} as const;

/** The values of the permissions that have no effect: variable sets and policy overrides. */
const withoutEffect = {
  read: ["read", false],
  write: ["read", false],
  maintain: ["write", true],
  admin: ["write", true],
  custom: ["none", false],
} as const;

const attributesOf = (access: keyof typeof implied) => {
  const [settings, teams, runs, mocks, states, variables, create, locking, deletion, move, tasks] =
    implied[access];
  const [variableSets, policyOverrides] = withoutEffect[access];
  return {
    access,
    "project-access": { settings, teams, "variable-sets": variableSets },
    "workspace-access": {
      runs,
      "policy-mocks": mocks,
      "sentinel-mocks": mocks,
      "state-versions": states,
      variables,
      create,
      locking,
      delete: deletion,
      move,
      "run-tasks": tasks,
      "policy-overrides": policyOverrides,
    },
  };
};

test.each(Object.keys(implied) as (keyof typeof implied)[])(
  "the level %s can be created, shown, listed and deleted with its implied permissions",
  async (access) => {
    proves(
      "Team project levels/read",
      "Team project levels/write",
      "Team project levels/maintain",
      "Team project levels/admin",
      "Team project levels/custom",
      "Team project permissions/reflecting the implicit level otherwise",
      "Team project implied permissions/project-access.settings",
      "Team project implied permissions/project-access.teams",
      "Team project implied permissions/workspace-access.runs",
      "Team project implied permissions/workspace-access.policy-mocks",
      "Team project implied permissions/workspace-access.state-versions",
      "Team project implied permissions/workspace-access.variables",
      "Team project implied permissions/workspace-access.create",
      "Team project implied permissions/workspace-access.locking",
      "Team project implied permissions/workspace-access.delete",
      "Team project implied permissions/workspace-access.move",
      "Team project implied permissions/workspace-access.run-tasks",
      "Team project endpoints/GET /team-projects/:id",
      "Team project endpoints/POST /team-projects: 200 document",
      "Team project endpoints/DELETE /team-projects/:id",
      "Team project errors/show: 200",
      "Team project errors/add: 200",
      "Team project errors/remove: 204",
      "Versioning/2023-03-13",
      "Versioning/2023-01-17",
    );
    const { owner } = fixture();
    const project = await newProject(fixture());
    const team = await newTeam(fixture());
    const made = await grant(project.id, team.id, { access });
    expect(made.status).toBe(200);
    const { id, type, attributes, relationships } = made.body.data;
    expect(id).toMatch(/^tprj-[A-Za-z0-9]{16}$/);
    expect(type).toBe("team-projects");
    expect(attributes).toMatchObject(attributesOf(access));
    expect(relationships).toMatchObject({
      team: { data: { type: "teams", id: team.id } },
      project: { data: { type: "projects", id: project.id } },
    });
    const path = `/team-projects/${id}`;
    expect((await owner.api.get(path)).body.data).toEqual(made.body.data);
    const listed = await owner.api.get(`/team-projects?filter[project][id]=${project.id}`);
    expect(listed.body.data).toEqual([made.body.data]);
    expect(listed.body.meta.pagination["total-count"]).toBe(1);
    expect((await owner.api.delete(path)).status).toBe(204);
    expect((await owner.api.get(path)).status).toBe(404);
    expect((await owner.api.delete(path)).status).toBe(404);
    expect((await owner.api.patch(path, document("team-projects", { access }))).status).toBe(404);
  },
);

test("custom stores given permissions, has defaults for others, and changes one at a time", async () => {
  proves(
    "Team project levels/custom",
    "Team project permissions/project-access.settings",
    "Team project permissions/project-access.teams",
    "Team project permissions/workspace-access.runs",
    "Team project permissions/workspace-access.policy-mocks",
    "Team project permissions/workspace-access.state-versions",
    "Team project permissions/workspace-access.variables",
    "Team project permissions/workspace-access.create",
    "Team project permissions/workspace-access.locking",
    "Team project permissions/workspace-access.delete",
    "Team project permissions/workspace-access.move",
    "Team project permissions/workspace-access.run-tasks",
    "Team project permissions/an unspecified permission has the default of custom",
    "Team project endpoints/PATCH /team-projects/:id",
    "Team project errors/update: 200",
    "Versioning/2023-07-26",
  );
  const { owner } = fixture();
  const team = await newTeam(fixture());
  const made = await grant((await newProject(fixture())).id, team.id, {
    access: "custom",
    "project-access": { settings: "update", teams: null },
    "workspace-access": { "sentinel-mocks": "read", locking: true },
  });
  expect(made.status).toBe(200);
  const base = attributesOf("custom");
  const expected = {
    ...base,
    "project-access": { settings: "update", teams: "none" },
    "workspace-access": {
      ...base["workspace-access"],
      "policy-mocks": "read",
      "sentinel-mocks": "read",
      locking: true,
    },
  };
  expect(made.body.data.attributes).toMatchObject(expected);
  const path = `/team-projects/${made.body.data.id}`;
  const changed = await owner.api.patch(
    path,
    document("team-projects", { "workspace-access": { "policy-mocks": "none", runs: "plan" } }),
  );
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes["workspace-access"]).toMatchObject({
    "policy-mocks": "none",
    "sentinel-mocks": "none",
    runs: "plan",
    locking: true,
  });
  const fixed = await owner.api.patch(path, document("team-projects", { access: "maintain" }));
  expect(fixed.body.data.attributes).toMatchObject(attributesOf("maintain"));
  const again = await owner.api.patch(path, document("team-projects", { access: "custom" }));
  expect(again.body.data.attributes).toMatchObject({
    ...attributesOf("maintain"),
    access: "custom",
  });
});

test("unknown and disallowed values are reported by their key", async () => {
  proves(
    "Team project permissions/project-access.settings",
    "Team project permissions/project-access.teams",
    "Team project permissions/workspace-access.runs",
    "Team project permissions/workspace-access.policy-mocks",
    "Team project permissions/workspace-access.state-versions",
    "Team project permissions/workspace-access.variables",
    "Team project permissions/workspace-access.create",
    "Team project permissions/workspace-access.locking",
    "Team project permissions/workspace-access.delete",
    "Team project permissions/workspace-access.move",
    "Team project permissions/workspace-access.run-tasks",
    "Team project permissions/settable only when access is custom; otherwise read-only",
    "Team project endpoints/POST /team-projects: data.attributes.access required",
    "Team project endpoints/POST /team-projects: project and",
    "Team project errors/add: 422 malformed body",
    "Access errors/all problems of a request at once",
  );
  const { owner } = fixture();
  const { id: projectId } = await newProject(fixture());
  const { id: teamId } = await newTeam(fixture());
  const wrong = await grant(projectId, teamId, {
    access: "custom",
    "project-access": { settings: "none", fly: true },
    "workspace-access": { runs: "write", create: "true", "state-versions": 1 },
  });
  expect(wrong.status).toBe(422);
  expect(problems(wrong)).toEqual({
    "/data/attributes/project-access/settings": "Settings must be read, update or delete",
    "/data/attributes/project-access/fly": "Permission 'fly' is unknown",
    "/data/attributes/workspace-access/runs": "Runs must be read, plan or apply",
    "/data/attributes/workspace-access/create": "Create must be false or true",
    "/data/attributes/workspace-access/state-versions":
      "State versions must be none, read-outputs, read or write",
  });
  const level = problems(await grant(projectId, teamId, { access: "own" }));
  expect(Object.keys(level)).toEqual(["/data/attributes/access"]);
  const fixed = await grant(projectId, teamId, {
    access: "write",
    "workspace-access": { runs: "read" },
  });
  expect(problems(fixed)).toEqual({
    "/data/attributes/workspace-access/runs":
      "Runs is read-only when access level is 'write'; use the 'custom' access level to set this attribute.",
  });
  const both = await grant(projectId, teamId, {
    access: "custom",
    "workspace-access": { "policy-mocks": "none", "sentinel-mocks": "read" },
  });
  expect(both.status).toBe(422);
  const bare = await owner.api.post("/team-projects", { data: { type: "team-projects" } });
  expect(Object.keys(problems(bare)).toSorted()).toEqual([
    "/data/attributes/access",
    "/data/relationships/project",
    "/data/relationships/team",
  ]);
});

test("the types and ids of a body are required and validated", async () => {
  proves(
    "Team project endpoints/POST /team-projects: data.type required",
    "Team project endpoints/POST /team-projects: project and",
  );
  const { owner } = fixture();
  const { id: projectId } = await newProject(fixture());
  const { id: teamId } = await newTeam(fixture());
  const project = { type: "projects", id: projectId };
  const team = { type: "teams", id: teamId };
  const create = async (type: unknown, ofProject: object, ofTeam: object) => {
    const relationships = { project: { data: ofProject }, team: { data: ofTeam } };
    const data = { type, attributes: { access: "read" }, relationships };
    const answer = await owner.api.post("/team-projects", { data });
    expect(answer.status).toBe(422);
    return Object.keys(problems(answer));
  };
  expect(await create(undefined, project, team)).toEqual(["/data/type"]);
  expect(await create("team-workspaces", project, team)).toEqual(["/data/type"]);
  const inProject = "/data/relationships/project/data";
  const inTeam = "/data/relationships/team/data";
  const ofTeam = (wrong: object) => create("team-projects", project, wrong);
  const ofProject = (wrong: object) => create("team-projects", wrong, team);
  expect(await ofProject({ id: projectId })).toEqual([`${inProject}/type`]);
  expect(await ofProject({ type: "teams", id: projectId })).toEqual([`${inProject}/type`]);
  expect(await ofProject({ type: "projects" })).toEqual([`${inProject}/id`]);
  expect(await ofTeam({ id: teamId })).toEqual([`${inTeam}/type`]);
  expect(await ofTeam({ type: "users", id: teamId })).toEqual([`${inTeam}/type`]);
  expect(await ofTeam({ type: "teams" })).toEqual([`${inTeam}/id`]);
  const made = await grant(projectId, teamId, { access: "read" });
  const path = `/team-projects/${made.body.data.id}`;
  // An update has no required type.
  const untyped = await owner.api.patch(path, { data: { attributes: { access: "write" } } });
  expect(untyped.body.data.attributes.access).toBe("write");
});

test("a second access of a team to a project is refused", async () => {
  proves(
    "Team project endpoints/one grant for each team and project",
    "Team project errors/update: 422 malformed body",
  );
  const { owner } = fixture();
  const { id: projectId } = await newProject(fixture());
  const { id: teamId } = await newTeam(fixture());
  const first = await grant(projectId, teamId, { access: "read" });
  const second = await grant(projectId, teamId, { access: "write" });
  expect(second.status).toBe(422);
  expect(problems(second)).toEqual({ "/data/relationships/team": "Team has already been taken" });
  const path = `/team-projects/${first.body.data.id}`;
  const wrong = await owner.api.patch(path, document("team-projects", { access: "own" }));
  expect(wrong.status).toBe(422);
});

test("lists require a readable project", async () => {
  proves(
    "Team project endpoints/GET /team-projects",
    "Team project errors/list: 200",
    "Team project errors/list: 404 project not",
  );
  const { owner, outsider, readable } = fixture();
  expect((await owner.api.get("/team-projects")).status).toBe(400);
  const path = `/team-projects?filter[project][id]=${readable.id}`;
  expect((await owner.api.get(`${path}&include=team,project`)).status).toBe(200);
  expect((await owner.api.get(`${path}&include=x`)).status).toBe(400);
  expect((await outsider.api.get(path)).status).toBe(404);
  const member = (await newTeam(fixture())).member;
  expect((await member.api.get(path)).status).toBe(404);
  const { id } = (await owner.api.get(path)).body.data[0];
  expect((await owner.api.get(`/team-projects/${id}?include=x`)).status).toBe(400);
});

describe("authorization", () => {
  async function furnished() {
    const { id: projectId } = await newProject(fixture());
    const [admin, reader, other] = [
      await newTeam(fixture()),
      await newTeam(fixture()),
      await newTeam(fixture()),
    ];
    const ids: string[] = [];
    for (const [team, access] of [
      [admin, "admin"],
      [reader, "read"],
      [other, "write"],
    ] as const) {
      ids.push((await grant(projectId, team.id, { access })).body.data.id);
    }
    return { projectId, admin, reader, other, ids };
  }
  const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id);

  test("members see their own teams' access, project admins and owners see all", async () => {
    proves("Team project errors/show: 404 not found", "Authentication/10 team access: members");
    const { projectId, admin, reader, ids } = await furnished();
    const path = `/team-projects?filter[project][id]=${projectId}`;
    expect(idsOf(await fixture().owner.api.get(path))).toEqual(ids);
    expect(idsOf(await admin.member.api.get(path))).toEqual(ids);
    expect(idsOf(await reader.member.api.get(path))).toEqual([ids[1]]);
    expect((await reader.member.api.get(`/team-projects/${ids[1]}`)).status).toBe(200);
    expect((await reader.member.api.get(`/team-projects/${ids[2]}`)).status).toBe(404);
    expect((await fixture().outsider.api.get(`/team-projects/${ids[1]}`)).status).toBe(404);
  });

  test("project admins may change access, others get 404, and a change is effective on the next request", async () => {
    proves(
      "Team project errors/add: 404 project or",
      "Team project errors/update: 404 not found",
      "Team project errors/remove: 404 not found",
      "Authentication/10 team access: owners",
    );
    const { owner, organization } = fixture();
    const { projectId, admin, reader, ids } = await furnished();
    const workspace = await newWorkspace({ owner, organization }, {}, projectId);
    const lock = `/workspaces/${workspace.id}/actions/lock`;
    const raise = document("team-projects", { access: "write" });
    const path = `/team-projects/${ids[1]}`;
    expect((await reader.member.api.patch(path, raise)).status).toBe(404);
    expect((await reader.member.api.delete(path)).status).toBe(404);
    const { id: fresh } = await newTeam(fixture());
    const more = projectAccess(fresh, projectId);
    expect((await reader.member.api.post("/team-projects", more)).status).toBe(404);
    expect((await reader.member.api.post(lock)).status).toBe(404);
    expect((await admin.member.api.patch(path, raise)).status).toBe(200);
    expect((await reader.member.api.post(lock)).status).toBe(200);
    expect((await admin.member.api.post("/team-projects", more)).status).toBe(200);
    expect((await admin.member.api.delete(path)).status).toBe(204);
    const gone = await reader.member.api.get(`/workspaces/${workspace.id}`);
    expect(gone.status).toBe(404);
    errorDetails(gone);
  });

  test("a team of another organization cannot get access", async () => {
    proves("Team project errors/add: 404 project or");
    const { outsider, readable } = fixture();
    const theirs = await outsider.api.post(
      `/organizations/${outsider.organization}/teams`,
      document("teams", { name: unusedName("theirs") }),
    );
    const foreign = await grant(readable.id, theirs.body.data.id, { access: "read" });
    expect(foreign.status).toBe(404);
    const unknown = await grant("prj-ABCDEFGHabcdefgh", theirs.body.data.id, { access: "read" });
    expect(unknown.status).toBe(404);
  });
});

test.each(["project", "workspace"] as const)(
  "the access of one team to a %s is found by filter[team][id]",
  async (kind) => {
    const { owner } = fixture();
    const project = await newProject(fixture());
    const workspace = await newWorkspace(fixture(), {}, project.id);
    const [one, other] = [await newTeam(fixture()), await newTeam(fixture())];
    for (const { id } of [one, other]) {
      const body =
        kind === "project" ? projectAccess(id, project.id) : workspaceAccess(id, workspace.id);
      await owner.api.post(`/team-${kind}s`, body);
    }
    const target = kind === "project" ? project.id : workspace.id;
    const teams = async (query: string) => {
      const { body } = await owner.api.get(`/team-${kind}s?filter[${kind}][id]=${target}${query}`);
      const ids = body.data.map(
        ({ relationships }: { relationships: { team: { data: { id: string } } } }) =>
          relationships.team.data.id,
      );
      expect(body.meta.pagination["total-count"]).toBe(ids.length);
      return ids;
    };
    expect(await teams("")).toEqual([one.id, other.id]);
    expect(await teams(`&filter[team][id]=${other.id}`)).toEqual([other.id]);
    expect(await teams("&filter[team][id]=team-0000000000000000")).toEqual([]);
  },
);

test("policy-overrides and variable-sets are permissions of custom access: stored, shown, and checked", async () => {
  const { owner } = fixture();
  const project = await newProject(fixture());
  const { id: teamId } = await newTeam(fixture());
  const { body } = await grant(project.id, teamId, {
    access: "custom",
    "project-access": { "variable-sets": "write" },
    "workspace-access": { "policy-overrides": true },
  });
  const path = `/team-projects/${body.data.id}`;
  const shown = async () => {
    const { attributes } = (await owner.api.get(path)).body.data;
    return [
      attributes["project-access"]["variable-sets"],
      attributes["workspace-access"]["policy-overrides"],
    ];
  };
  expect(await shown()).toEqual(["write", true]);
  const change = (attributes: Record<string, unknown>) =>
    owner.api.patch(path, document("team-projects", attributes));
  await change({ "project-access": { "variable-sets": "read" } });
  expect(await shown()).toEqual(["read", true]);
  const wrong = await change({
    "project-access": { "variable-sets": "manage" },
    "workspace-access": { "policy-overrides": "yes" },
  });
  expect(problems(wrong)).toEqual({
    "/data/attributes/project-access/variable-sets": "Variable sets must be none, read or write",
    "/data/attributes/workspace-access/policy-overrides": "Policy overrides must be false or true",
  });

  const workspace = await newWorkspace(fixture(), {}, project.id);
  const onWorkspace = await owner.api.post(
    "/team-workspaces",
    workspaceAccess(teamId, workspace.id, { access: "custom", "policy-overrides": true }),
  );
  expect(onWorkspace.status).toBe(200);
  const read = await owner.api.get(`/team-workspaces/${onWorkspace.body.data.id}`);
  expect(read.body.data.attributes["policy-overrides"]).toBe(true);
});
