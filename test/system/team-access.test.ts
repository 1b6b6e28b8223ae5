import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { projectAccess, workspaceAccess } from "../stack/team-access.ts";
import {
  type ApiUser,
  newProject,
  newTeam,
  newWorkspace,
  recordedApi,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

describe("the access of a team", () => {
  async function furnished() {
    const { owner } = fixture();
    const project = await newProject(fixture());
    const workspace = await newWorkspace(fixture());
    const team = await newTeam(fixture());
    const made = [
      await owner.api.post("/team-projects", projectAccess(team.id, project.id)),
      await owner.api.post("/team-workspaces", workspaceAccess(team.id, workspace.id)),
    ];
    const paths = made.map(({ body }) => `/${body.data.type}/${body.data.id}`);
    const statuses = async () =>
      Promise.all(paths.map(async (path) => (await owner.api.get(path)).status));
    expect(await statuses()).toEqual([200, 200]);
    return { project, workspace, team, statuses };
  }

  test("ends with its team immediately", async () => {
    proves("Team project endpoints/a grant goes with its team, its project, its workspace");
    const { team, statuses } = await furnished();
    expect((await fixture().owner.api.delete(`/teams/${team.id}`)).status).toBe(204);
    expect(await statuses()).toEqual([404, 404]);
  });

  test("ends with its project and with its workspace", async () => {
    proves("Team project endpoints/a grant goes with its team, its project, its workspace");
    const { owner } = fixture();
    const { project, workspace, statuses } = await furnished();
    expect((await owner.api.delete(`/projects/${project.id}`)).status).toBe(204);
    expect((await owner.api.delete(`/workspaces/${workspace.id}`)).status).toBe(204);
    await waitFor(async () => (await statuses()).every((status) => status === 404));
  });

  test("is listed in pages", async () => {
    proves(
      "Team project endpoints/GET /team-projects",
      "Access limits/page size",
      "Versioning/2021-03-18",
    );
    const { owner } = fixture();
    const project = await newProject(fixture());
    const ids: string[] = [];
    for (let made = 0; made < 3; made++) {
      const { id } = await newTeam(fixture());
      const { body } = await owner.api.post("/team-projects", projectAccess(id, project.id));
      ids.push(body.data.id);
    }
    const list = `/team-projects?filter[project][id]=${project.id}`;
    const second = await owner.api.get(`${list}&page[size]=2&page[number]=2`);
    expect(second.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
    expect(second.body.meta.pagination).toMatchObject({ "total-count": 3, "total-pages": 2 });
    expect((await owner.api.get(list)).body.meta.pagination["page-size"]).toBe(20);
    expect((await owner.api.get(`${list}&page[size]=0`)).status).toBe(400);
  });
});

test.each(["the organization's token", "a token of the owners team"])(
  "%s sees and changes every team's access, as an owner does",
  async (which) => {
    proves("Authentication/10 team access: the");
    const { owner, organization, url } = fixture();
    const found = await owner.api.get(`/organizations/${organization}/teams?filter[names]=owners`);
    const made = await owner.api.post(
      which === "the organization's token"
        ? `/organizations/${organization}/authentication-token`
        : `/teams/${found.body.data[0].id}/authentication-token`,
    );
    const api = recordedApi(url, made.body.data.attributes.token);
    const project = await newProject(fixture());
    const secret = await newTeam(fixture());
    const created = await api.post("/team-projects", projectAccess(secret.id, project.id));
    expect(created.status).toBe(200);
    const path = `/team-projects/${created.body.data.id}`;
    const listed = await api.get(`/team-projects?filter[project][id]=${project.id}`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([created.body.data.id]);
    const raised = await api.patch(path, document("team-projects", { access: "maintain" }));
    expect(raised.body.data.attributes.access).toBe("maintain");
    expect((await api.get(path)).status).toBe(200);
    expect((await api.delete(path)).status).toBe(204);
  },
);

describe("a project level allows a team", () => {
  /** Returns, for each action in the table of levels, whether a user with this access to a project may perform it. */
  async function effects(attributes: Record<string, unknown>): Promise<Record<string, boolean>> {
    const { owner } = fixture();
    const [project, elsewhere] = [await newProject(fixture()), await newProject(fixture())];
    const { id: teamId, member } = await newTeam(fixture());
    const grant = await owner.api.post(
      "/team-projects",
      projectAccess(teamId, project.id, attributes),
    );
    expect(grant.status).toBe(200);
    const own = await owner.api.post(
      "/team-projects",
      projectAccess(teamId, elsewhere.id, { access: "admin" }),
    );
    expect(own.status).toBe(200);
    const { id } = await newWorkspace(fixture(), {}, project.id);
    const moving = await newWorkspace(fixture(), {}, project.id);
    const going = await newWorkspace(fixture(), {}, project.id);
    const does = async (answer: Promise<{ status: number }>) => (await answer).status < 300;
    const { api }: ApiUser = member;
    const { organization } = fixture();
    const inProject = { project: { data: { type: "projects", id: project.id } } };
    const inElsewhere = { project: { data: { type: "projects", id: elsewhere.id } } };
    return {
      "read the project": await does(api.get(`/projects/${project.id}`)),
      "read its workspaces": await does(api.get(`/workspaces/${id}`)),
      "change the project": await does(
        api.patch(`/projects/${project.id}`, document("projects", { description: "x" })),
      ),
      "change workspaces": await does(
        api.patch(`/workspaces/${id}`, document("workspaces", { description: "x" })),
      ),
      "read state": await does(api.get(`/workspaces/${id}/current-state-version-outputs`)),
      lock: await does(api.post(`/workspaces/${id}/actions/lock`)),
      "create workspaces": await does(
        api.post(
          `/organizations/${organization}/workspaces`,
          document("workspaces", { name: unusedName("made") }, inProject),
        ),
      ),
      "delete workspaces": await does(api.post(`/workspaces/${going.id}/actions/safe-delete`)),
      "move workspaces": await does(
        api.patch(`/workspaces/${moving.id}`, document("workspaces", {}, inElsewhere)),
      ),
      "manage its teams": await does(
        api.post("/team-projects", projectAccess((await newTeam(fixture())).id, project.id)),
      ),
    };
  }
  const reading = ["read the project", "read its workspaces", "read state"];
  const table: Record<string, readonly string[]> = {
    read: reading,
    write: [...reading, "lock"],
    maintain: [...reading, "lock", "change workspaces", "create workspaces", "delete workspaces"],
    admin: [
      ...reading,
      "lock",
      "change the project",
      "change workspaces",
      "create workspaces",
      "delete workspaces",
      "move workspaces",
      "manage its teams",
    ],
    custom: ["read the project", "read its workspaces"],
  };

  test.each(Object.keys(table))("exactly what the level %s says", async (access) => {
    proves(
      "Team project levels/read",
      "Team project levels/write",
      "Team project levels/maintain",
      "Team project levels/admin",
      "Authentication/1 viewing workspaces",
      "Authentication/2 changing settings, force-unlocking",
    );
    const seen = await effects({ access });
    const done = Object.keys(seen).filter((what) => seen[what]);
    expect(done.toSorted()).toEqual([...(table[access] ?? [])].toSorted());
  });

  /**
   * Custom grants with a single permission. Each has the effects of every custom grant and, in addition, the listed
   * effects.
   */
  const single: Record<string, [Record<string, unknown>, readonly string[]]> = {
    "project-access.settings update": [
      { "project-access": { settings: "update" } },
      ["change the project"],
    ],
    "project-access.teams manage": [
      { "project-access": { teams: "manage" } },
      ["manage its teams"],
    ],
    "workspace-access.create": [{ "workspace-access": { create: true } }, ["create workspaces"]],
    "workspace-access.locking": [{ "workspace-access": { locking: true } }, ["lock"]],
    "workspace-access.delete": [{ "workspace-access": { delete: true } }, ["delete workspaces"]],
    "workspace-access.move": [{ "workspace-access": { move: true } }, ["move workspaces"]],
    "workspace-access.state-versions read-outputs": [
      { "workspace-access": { "state-versions": "read-outputs" } },
      ["read state"],
    ],
  };

  test.each(Object.keys(single))("exactly what custom with %s says", async (name) => {
    proves(
      "Team project levels/custom",
      "Team project permissions/project-access.settings",
      "Team project permissions/project-access.teams",
      "Team project permissions/workspace-access.state-versions",
      "Team project permissions/workspace-access.create",
      "Team project permissions/workspace-access.locking",
      "Team project permissions/workspace-access.delete",
      "Team project permissions/workspace-access.move",
      "Authentication/3 lock and unlock",
    );
    const [permissions, more] = single[name] ?? [{}, []];
    const seen = await effects({ access: "custom", ...permissions });
    const done = Object.keys(seen).filter((what) => seen[what]);
    expect(done.toSorted()).toEqual([...(table.custom ?? []), ...more].toSorted());
  });
});
