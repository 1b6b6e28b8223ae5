import { afterAll, beforeAll, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let reader: Person;
let organizationName: string;
let projectId: string;

interface Search {
  searchName?: string;
  searchTags?: string[];
  projectId?: string;
  pageNumber?: number;
  pageSize?: number;
}

/** Returns the total of the list, followed by the names on the page. */
async function list(search: Search = {}, as = owner) {
  const { workspaces, totalCount } = await running.service.listWorkspaces(
    { organizationName, ...search },
    as,
  );
  return [totalCount, ...workspaces.map(({ name }) => name)];
}

beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  reader = await running.person();
  const organization = await running.organization(owner);
  organizationName = organization.name;
  const { project } = await running.projects.createProject(
    { organizationName, name: "networks" },
    owner,
  );
  projectId = project?.id ?? "";
  const create = (name: string, tags: string[], inProject?: string) =>
    running.service.createWorkspace(
      {
        organizationName,
        settings: {
          name,
          tagNames: { values: tags },
          ...(inProject ? { projectId: inProject } : {}),
        },
      },
      owner,
    );
  await create("net-prod", ["prod", "net"], projectId);
  await create("net-test", ["net"], projectId);
  await create("App_Prod", ["prod"]);
  await create("app-test", []);
  const { team } = await running.teams.createTeam({
    organizationId: organization.id,
    settings: { name: "readers" },
  });
  const teamId = team?.id ?? "";
  await running.teams.addTeamMember({ teamId, userId: reader.id });
  await running.teamAccess.createTeamAccess({
    teamId,
    targetType: "project",
    targetId: projectId,
    access: "read",
  });
});
afterAll(() => running[Symbol.asyncDispose]());

test("is complete, in a stable order, in pages with a correct total", async () => {
  const [total, ...names] = await list();
  expect(total).toBe(4);
  expect(names.toSorted()).toEqual(["App_Prod", "app-test", "net-prod", "net-test"]);
  const first = await list({ pageNumber: 1, pageSize: 3 });
  const second = await list({ pageNumber: 2, pageSize: 3 });
  expect([...first.slice(1), ...second.slice(1)]).toEqual(names);
  expect(await list({ pageNumber: 1_000_000_000, pageSize: 100 })).toEqual([4]);
});

test.each<[Search, number]>([
  [{ searchName: "PROD" }, 2],
  [{ searchName: "p_p" }, 1],
  [{ searchName: "%" }, 0],
  [{ searchName: "\\" }, 0],
  [{ searchTags: ["net"] }, 2],
  [{ searchTags: ["net", "prod", "net"] }, 1],
  [{ searchTags: ["nowhere"] }, 0],
  [{ searchName: "test", searchTags: ["net"] }, 1],
  [{ projectId: "prj-none" }, 0],
])("%j finds %i workspaces", async (search, count) => {
  const [total, ...names] = await list(search);
  expect(total).toBe(count);
  expect(names).toHaveLength(count);
});

test("is filtered by project and contains only readable workspaces", async () => {
  expect(await list({ projectId })).toEqual([2, "net-prod", "net-test"]);
  expect(await list({}, reader)).toEqual([2, "net-prod", "net-test"]);
  expect(await list({ searchName: "app" }, reader)).toEqual([0]);
  expect(await list({ pageSize: 1, pageNumber: 2 }, reader)).toEqual([2, "net-test"]);
});

test("of another user's organization is not found", async () => {
  expect(await failureOf(list({}, await running.person()))).toMatchObject({ kind: "notFound" });
  const missing = running.service.listWorkspaces({ organizationName: "a\0b" }, owner);
  expect(await failureOf(missing)).toMatchObject({ kind: "notFound" });
});
