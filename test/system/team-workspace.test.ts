import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { workspaceAccess } from "../stack/team-access.ts";
import { newTeam, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

const grant = (workspaceId: string, teamId: string, attributes: Record<string, unknown>) =>
  fixture().owner.api.post("/team-workspaces", workspaceAccess(teamId, workspaceId, attributes));

const levels = {
  read: ["read", "read", "read", "none", false, false],
  plan: ["plan", "read", "read", "none", false, false],
  write: ["apply", "write", "write", "read", true, false],
  admin: ["apply", "write", "write", "read", true, true],
  custom: ["read", "none", "none", "none", false, false],
} as const;

test.each(Object.keys(levels) as (keyof typeof levels)[])(
  "the level %s can be created, shown, listed and deleted with its implied permissions",
  async (access) => {
    proves("Teams and users/team-workspaces: fixed levels and");
    const { owner } = fixture();
    const workspace = await newWorkspace(fixture());
    const team = await newTeam(fixture());
    const made = await grant(workspace.id, team.id, { access });
    expect(made.status).toBe(200);
    const [runs, variables, states, mocks, locking, tasks] = levels[access];
    const policyOverrides = access === "admin";
    expect(made.body.data.id).toMatch(/^tws-[A-Za-z0-9]{16}$/);
    expect(made.body.data.attributes).toEqual({
      access,
      runs,
      variables,
      "state-versions": states,
      "policy-mocks": mocks,
      "sentinel-mocks": mocks,
      "workspace-locking": locking,
      "run-tasks": tasks,
      "policy-overrides": policyOverrides,
    });
    const path = `/team-workspaces/${made.body.data.id}`;
    expect((await owner.api.get(path)).body.data).toEqual(made.body.data);
    const list = `/team-workspaces?filter[workspace][id]=${workspace.id}`;
    expect((await owner.api.get(`${list}&include=team`)).body.data).toEqual([made.body.data]);
    const shown = await team.member.api.get(`/workspaces/${workspace.id}`);
    expect(shown.status).toBe(200);
    expect(shown.body.data.attributes.permissions).toMatchObject({
      "can-lock": locking,
      "can-update": access === "admin",
      "can-read-state-versions": access !== "custom",
      "can-queue-apply": runs === "apply",
    });
    const all = await team.member.api.get(`/organizations/${fixture().organization}/workspaces`);
    expect(all.body.data.map(({ id }: { id: string }) => id)).toEqual([workspace.id]);
    expect(all.body.meta.pagination["total-count"]).toBe(1);
    expect((await owner.api.delete(path)).status).toBe(204);
    expect((await owner.api.get(path)).status).toBe(404);
    expect((await owner.api.delete(path)).status).toBe(404);
    expect((await owner.api.patch(path, document("team-workspaces", {}))).status).toBe(404);
    expect((await team.member.api.get(`/workspaces/${workspace.id}`)).status).toBe(404);
  },
);

test("a fixed level accepts no permissions; custom accepts each in either spelling", async () => {
  proves("Teams and users/team-workspaces: fixed levels and");
  const { owner } = fixture();
  const { id: workspaceId } = await newWorkspace(fixture());
  const { id: teamId } = await newTeam(fixture());
  const fixed = await grant(workspaceId, teamId, { access: "read", runs: "apply" });
  expect(fixed.status).toBe(422);
  expect(problems(fixed)).toEqual({
    "/data/attributes/runs":
      "Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
  });
  const unknown = await grant(workspaceId, teamId, { access: "custom", fly: true, runs: "none" });
  expect(problems(unknown)).toEqual({
    "/data/attributes/fly": "Permission 'fly' is unknown",
    "/data/attributes/runs": "Runs must be read, plan or apply",
  });
  const made = await grant(workspaceId, teamId, {
    access: "custom",
    "sentinel-mocks": "read",
    "workspace-locking": true,
  });
  expect(made.body.data.attributes).toMatchObject({
    runs: "read",
    "policy-mocks": "read",
    "workspace-locking": true,
  });
  const path = `/team-workspaces/${made.body.data.id}`;
  const changed = await owner.api.patch(path, document("team-workspaces", { variables: "write" }));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toMatchObject({
    variables: "write",
    "workspace-locking": true,
  });
  expect((await owner.api.patch(path, document("team-workspaces", { runs: 1 }))).status).toBe(422);
  const second = await grant(workspaceId, teamId, { access: "read" });
  expect(problems(second)).toEqual({ "/data/relationships/team": "Team has already been taken" });
});

test("workspace admins see and change all access, others see their own, users without access none", async () => {
  proves("Teams and users/team-workspaces: who sees and");
  const { owner, outsider } = fixture();
  const { id: workspaceId } = await newWorkspace(fixture());
  const [admin, reader] = [await newTeam(fixture()), await newTeam(fixture())];
  await grant(workspaceId, admin.id, { access: "admin" });
  const own = await grant(workspaceId, reader.id, { access: "read" });
  const list = `/team-workspaces?filter[workspace][id]=${workspaceId}`;
  expect((await admin.member.api.get(list)).body.data).toHaveLength(2);
  expect((await reader.member.api.get(list)).body.data).toEqual([own.body.data]);
  expect((await outsider.api.get(list)).status).toBe(404);
  expect((await owner.api.get("/team-workspaces")).status).toBe(400);
  const path = `/team-workspaces/${own.body.data.id}`;
  expect((await owner.api.get(`${path}?include=x`)).status).toBe(400);
  const raise = document("team-workspaces", { access: "write" });
  expect((await reader.member.api.patch(path, raise)).status).toBe(404);
  expect((await outsider.api.get(path)).status).toBe(404);
  expect((await admin.member.api.patch(path, raise)).status).toBe(200);
  expect((await reader.member.api.post(`/workspaces/${workspaceId}/actions/lock`)).status).toBe(
    200,
  );
  const more = workspaceAccess((await newTeam(fixture())).id, workspaceId);
  expect((await reader.member.api.post("/team-workspaces", more)).status).toBe(404);
  expect((await admin.member.api.post("/team-workspaces", more)).status).toBe(200);
});
