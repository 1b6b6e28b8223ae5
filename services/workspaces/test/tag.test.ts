import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;
let workspaceId: string;

beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
});
afterAll(() => running[Symbol.asyncDispose]());

beforeEach(async () => {
  organizationName = (await running.organization(owner)).name;
  workspaceId = await create("first");
});

async function create(name: string, more: { projectId?: string } = {}): Promise<string> {
  const settings = { name, ...more };
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings },
    owner,
  );
  return workspace?.id ?? "";
}

const named = (name: string) => ({ by: { case: "name" as const, value: name } });
const withId = (id: string) => ({ by: { case: "id" as const, value: id } });
type Ref = ReturnType<typeof named> | ReturnType<typeof withId>;

const add = (tags: Ref[], id = workspaceId) =>
  running.tags.addWorkspaceTags({ workspaceId: id, tags }, owner);
const remove = (tags: Ref[], id = workspaceId) =>
  running.tags.removeWorkspaceTags({ workspaceId: id, tags }, owner);
const list = async (id = workspaceId) =>
  (await running.tags.listWorkspaceTags({ workspaceId: id }, owner)).tags;
const bind = async (bindings: [string, string][], id = workspaceId) => {
  const tagBindings = bindings.map(([key, value]) => ({ key, value }));
  const request = { workspaceId: id, tagBindings };
  const answer = await running.tagBindings.updateWorkspaceTagBindings(request, owner);
  return answer.tagBindings.map(({ key, value }) => [key, value]);
};
const bindings = async () => {
  const answer = await running.tagBindings.listWorkspaceTagBindings({ workspaceId }, owner);
  return answer.tagBindings.map(({ key, value }) => [key, value]);
};
const tagNames = async () => {
  const request = { workspace: { by: { case: "id" as const, value: workspaceId } } };
  return (await running.service.getWorkspace(request, owner)).workspace?.tagNames;
};
const tagsOfOrganization = async () => {
  const rows = await running.sql<{ name: string }>(
    `select t.name from tags t join organizations o on o.id = t.organization_id
     where o.name = $1 order by t.name`,
    [organizationName],
  );
  return rows.map(({ name }) => name);
};

describe("flat tags", () => {
  test("are added by name or id once, and counted over workspaces", async () => {
    await add([named("b"), named("a"), named("a")]);
    await add([named("a")]);
    const other = await create("second");
    const [first] = await list();
    expect(first?.id).toMatch(/^tag-/);
    await add([withId(first?.id ?? "")], other);
    const tags = await list();
    expect(tags.map(({ name, instanceCount }) => [name, instanceCount])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
    expect(tags[0]).toMatchObject({ id: first?.id, organizationName });
  });

  test("are listed in pages with a correct total", async () => {
    await add(["a", "b", "c"].map(named));
    const page = (pageNumber: number) =>
      running.tags.listWorkspaceTags({ workspaceId, pageNumber, pageSize: 2 }, owner);
    expect(await page(2)).toMatchObject({ totalCount: 3, tags: [{ name: "c" }] });
    expect(await page(9)).toMatchObject({ totalCount: 3, tags: [] });
  });

  test("disappear from the organization with their last workspace, and get a new id afterwards", async () => {
    const other = await create("second");
    await add([named("a"), named("b")]);
    await add([named("a")], other);
    const id = (await list())[0]?.id ?? "";
    await remove([withId(id), named("b"), named("never-seen")]);
    expect(await tagsOfOrganization()).toEqual(["a"]);
    await remove([named("a")], other);
    expect(await tagsOfOrganization()).toEqual([]);
    await add([named("a")]);
    expect((await list())[0]?.id).not.toBe(id);
    expect(await failureOf(remove([withId(id)]))).toMatchObject({ kind: "notFound" });
  });

  test("keep their id if they are added while the last use is removed", async () => {
    const other = await create("second");
    for (let round = 0; round < 10; round++) {
      await add([named("a")]);
      await Promise.all([remove([named("a")]), add([named("a"), named("b")], other)]);
      expect(await tagsOfOrganization()).toEqual(["a", "b"]);
      expect((await list(other)).map(({ name }) => name)).toEqual(["a", "b"]);
      await remove([named("a"), named("b")], other);
      expect(await tagsOfOrganization()).toEqual([]);
    }
  });

  test.each([
    ["", "Name can't be blank"],
    ["a b", "Name is invalid"],
    ["hcp:x", "Name has a reserved prefix"],
  ])("%j is refused: %s", async (name, detail) => {
    expect((await failureOf(add([named("fine"), named(name)]))).fields).toEqual([
      { field: "tags[1].name", detail },
    ]);
    expect(await list()).toEqual([]);
  });
});

describe("bindings", () => {
  test("with an empty value are flat tags, and the reverse", async () => {
    await bind([
      ["env", ""],
      ["team", "net"],
    ]);
    expect(await tagNames()).toEqual(["env"]);
    await bind([
      ["env", "prod"],
      ["team", ""],
    ]);
    expect(await tagNames()).toEqual(["team"]);
    expect(await tagsOfOrganization()).toEqual(["team"]);
    await add([named("env"), named("flat")]);
    expect(await bindings()).toEqual([
      ["env", "prod"],
      ["flat", ""],
      ["team", ""],
    ]);
    await remove([named("env"), named("team")]);
    expect(await bindings()).toEqual([
      ["env", "prod"],
      ["flat", ""],
    ]);
  });

  test("are added and changed, the others remain; the response has the order of the request", async () => {
    await bind([
      ["b", "1"],
      ["c", "1"],
    ]);
    expect(
      await bind([
        ["z", "9"],
        ["b", "2"],
        ["a", "0"],
      ]),
    ).toEqual([
      ["z", "9"],
      ["b", "2"],
      ["a", "0"],
    ]);
    expect(await bindings()).toEqual([
      ["a", "0"],
      ["b", "2"],
      ["c", "1"],
      ["z", "9"],
    ]);
  });

  test("with a value are limited to ten; flat tags do not count", async () => {
    const valued = Array.from({ length: 9 }, (_, i): [string, string] => [`key${i}`, "v"]);
    await bind(valued);
    await bind([
      ["flat1", ""],
      ["flat2", ""],
    ]);
    await bind([["key9", "v"]]);
    expect((await failureOf(bind([["key10", "v"]]))).fields).toEqual([
      { field: "tagBindings", detail: "Tag bindings are too many (maximum is 10)" },
    ]);
    await bind([
      ["key10", "v"],
      ["key9", ""],
    ]);
  });

  test("of two concurrent requests are both kept", async () => {
    await Promise.all(["a", "b", "c", "d"].map((key) => bind([[key, "1"]])));
    expect((await bindings()).map(([key]) => key)).toEqual(["a", "b", "c", "d"]);
  });
});

test("in effect come from the project unless the workspace has the key", async () => {
  const { project } = await running.projects.createProject(
    {
      organizationName,
      name: "tagged",
      tagBindings: [
        { key: "env", value: "prod" },
        { key: "cost", value: "42" },
      ],
    },
    owner,
  );
  const projectId = project?.id ?? "";
  workspaceId = await create("inside", { projectId });
  await bind([["env", "test"]]);
  const { tagBindings } = await running.tagBindings.listWorkspaceEffectiveTagBindings(
    { workspaceId },
    owner,
  );
  expect(
    tagBindings.map(({ key, value, inheritedFromProjectId }) => [
      key,
      value,
      inheritedFromProjectId,
    ]),
  ).toEqual([
    ["cost", "42", projectId],
    ["env", "test", ""],
  ]);
  expect(await bindings()).toEqual([["env", "test"]]);
});

test("tags of a workspace that the caller cannot read are not found", async () => {
  const outsider = await running.person();
  const calls = [
    running.tags.listWorkspaceTags({ workspaceId }, outsider),
    running.tags.addWorkspaceTags({ workspaceId, tags: [named("a")] }, outsider),
    running.tags.removeWorkspaceTags({ workspaceId, tags: [named("a")] }, outsider),
    running.tagBindings.listWorkspaceTagBindings({ workspaceId }, outsider),
    running.tagBindings.listWorkspaceEffectiveTagBindings({ workspaceId }, outsider),
    running.tagBindings.updateWorkspaceTagBindings({ workspaceId, tagBindings: [] }, outsider),
  ];
  for (const { kind } of await Promise.all(calls.map(failureOf))) expect(kind).toBe("notFound");
});
