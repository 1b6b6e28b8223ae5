import { afterAll, beforeAll, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationId: string;
let organizationName: string;

beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  ({ id: organizationId, name: organizationName } = await running.organization(owner));
});
afterAll(() => running[Symbol.asyncDispose]());

const create = async (name: string, as = owner) =>
  (await running.projects.createProject({ organizationName, name, description: "d" }, as)).project;

test("a created project can be read as returned", async () => {
  const project = await create("Networks of us");
  expect(project).toMatchObject({
    organizationId,
    organizationName,
    name: "Networks of us",
    description: "d",
    isDefault: false,
    workspaceCount: 0,
    defaultExecutionMode: "local",
    overwritesDefaultExecutionMode: false,
  });
  const id = project?.id ?? "";
  expect((await running.projects.getProject({ id }, owner)).project).toEqual(project);
  const settings = { name: running.unique("ws"), projectId: id };
  await running.service.createWorkspace({ organizationName, settings }, owner);
  expect((await running.projects.getProject({ id }, owner)).project?.workspaceCount).toBe(1);
});

test("all problems are reported together; a name is unique", async () => {
  const bad = running.projects.createProject(
    { organizationName, name: "a/b", tagBindings: [{ key: "hc:a", value: "b c" }] },
    owner,
  );
  expect((await failureOf(bad)).fields.map(({ field }) => field)).toEqual([
    "name",
    "tagBindings[0].key",
    "tagBindings[0].value",
  ]);
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => create("racers")));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect((await failureOf(create("racers"))).fields).toEqual([
    { field: "name", detail: "Name has already been taken" },
  ]);
});

test("the list supports search, exact names, sort and pages", async () => {
  const person = await running.person();
  const { name: organizationName } = await running.organization(person);
  for (const name of ["alpha one", "alpha_two", "beta"]) {
    await running.projects.createProject({ organizationName, name }, person);
  }
  interface Search {
    query?: string;
    names?: string[];
    sort?: string;
    pageNumber?: number;
    pageSize?: number;
  }
  const list = async (search: Search) => {
    const answer = await running.projects.listProjects({ organizationName, ...search }, person);
    return [answer.totalCount, ...answer.projects.map(({ name }) => name)];
  };
  expect(await list({})).toEqual([4, ...["Default Project", "alpha one", "alpha_two", "beta"]]);
  expect(await list({ sort: "-name", pageSize: 2 })).toEqual([4, "beta", "alpha_two"]);
  expect(await list({ query: "A_T" })).toEqual([1, "alpha_two"]);
  expect(await list({ names: ["beta", "alpha one", "alpha"] })).toEqual([2, "alpha one", "beta"]);
  expect(await list({ pageNumber: 3, pageSize: 2 })).toEqual([4]);
});

test("members see projects with grants, users without access see none", async () => {
  const member = await running.person();
  const outsider = await running.person();
  const project = await create("granted");
  const other = await create("not granted");
  const { team } = await running.teams.createTeam({ organizationId, settings: { name: "some" } });
  const teamId = team?.id ?? "";
  await running.teams.addTeamMember({ teamId, userId: member.id });
  const projectId = project?.id ?? "";
  await running.teamAccess.createTeamAccess({
    teamId,
    targetType: "project",
    targetId: projectId,
    access: "read",
  });
  const { projects, totalCount } = await running.projects.listProjects(
    { organizationName },
    member,
  );
  expect([totalCount, ...projects.map(({ name }) => name)]).toEqual([1, "granted"]);
  expect(projects[0]?.allowedActions).toEqual(["project:list", "project:read"]);
  const ids = [projectId, other?.id ?? "", "junk"];
  const batch = await running.projects.batchGetProjects({ ids }, member);
  expect(batch.projects.map(({ id }) => id)).toEqual([projectId]);
  expect(await failureOf(create("theirs", member))).toMatchObject({ kind: "forbidden" });
  expect(await failureOf(create("theirs", outsider))).toMatchObject({ kind: "notFound" });
  const foreign = running.projects.listProjects({ organizationName }, outsider);
  expect(await failureOf(foreign)).toMatchObject({ kind: "notFound" });
  expect(await failureOf(running.projects.getProject({ id: projectId }, outsider))).toMatchObject({
    kind: "notFound",
  });
});

test("access can request the organization of a project", async () => {
  const projectId = (await create("placed"))?.id ?? "";
  const { access } = running.identities;
  expect(await running.projects.getProjectPlacement({ projectId }, access)).toMatchObject({
    organizationId,
  });
  const unknown = running.projects.getProjectPlacement({ projectId: "prj-none" }, access);
  expect(await failureOf(unknown)).toMatchObject({ kind: "notFound" });
});
