import { freshDatabase } from "@statehouse/postgres/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../store/migrations.ts";
import { createWorkspaceLists } from "../store/workspace-list.ts";
import { insertOrganization, insertProject, insertWorkspace } from "./rows.ts";

const stack = new AsyncDisposableStack();
let client: Client;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "workspaces", migrations }));
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  await insertOrganization(sql, { id: "org-1", name: "acme" });
  await insertOrganization(sql, { id: "org-2", name: "other" });
  for (const id of ["prj-1", "prj-2"]) {
    await insertProject(sql, { id, organizationId: "org-1", name: id });
  }
});
afterAll(() => stack.disposeAsync());

async function sql(text: string, values: unknown[] = []): Promise<void> {
  await client.query(text, values);
}

let counts = 0;

/** Returns the total of a search, and how many times its matches were counted. */
const search = async (
  { find }: ReturnType<typeof createWorkspaceLists>,
  name: string,
  { organizationName = "acme", page = 1 } = {},
) => {
  counts = 0;
  const found = await find(
    {
      ...{ organizationName, name, wildcardName: "", tags: [], excludedTags: [], tagged: [] },
      ...{ taggedAny: false, currentRunStatuses: [], locked: undefined, projectId: "" },
      sort: { key: "name", descending: false },
      page: { number: page, size: 1 },
    },
    {
      memberOf: ["org-1", "org-2"],
      organizationIds: ["org-1", "org-2"],
      ...{ projectIds: [], workspaceIds: [] },
    },
  );
  return { total: found?.total, counts };
};

const newLists = () =>
  createWorkspaceLists({
    query: async <Row>(text: string, values: readonly unknown[] = []) => {
      if (text.startsWith("select count(*)")) counts++;
      return (await client.query(text, [...values])).rows as Row[];
    },
  });

const create = (id: string, name: string) =>
  insertWorkspace(sql, {
    ...{ id, name, organizationId: "org-1", projectId: "prj-1" },
    ...{ createdAt: 0, latestChangeAt: null },
  });

test("a search is counted again only after a change of the organization's names", async () => {
  const lists = newLists();
  expect(await search(lists, "web")).toEqual({ total: 0, counts: 1 });
  await create("ws-1", "web-1");
  expect(await search(lists, "web")).toEqual({ total: 1, counts: 1 });
  expect(await search(lists, "web")).toEqual({ total: 1, counts: 0 });
  expect(await search(lists, "web", { page: 2 })).toEqual({ total: 1, counts: 0 });
  await create("ws-2", "web-2");
  expect(await search(lists, "web")).toEqual({ total: 2, counts: 1 });

  await sql("update workspaces set name = 'api-1' where id = 'ws-1'");
  expect(await search(lists, "web")).toEqual({ total: 1, counts: 1 });
  expect(await search(lists, "api")).toEqual({ total: 1, counts: 1 });
  await sql("update workspaces set description = 'web', name = name where id = 'ws-1'");
  expect(await search(lists, "web")).toEqual({ total: 1, counts: 0 });
  await sql("update workspaces set project_id = 'prj-2' where id = 'ws-2'");
  expect(await search(lists, "web")).toEqual({ total: 1, counts: 1 });
  await sql("delete from workspaces where id = 'ws-2'");
  expect(await search(lists, "web")).toEqual({ total: 0, counts: 1 });
  await create("ws-3", "web-3");
  await sql("delete from workspaces where id = 'ws-1'");
  expect(await search(lists, "web")).toEqual({ total: 1, counts: 1 });
});

test("a change is counted when it is committed, by other transactions too", async () => {
  const lists = newLists();
  const before = (await search(lists, "mid")).total;
  await sql("begin");
  await create("ws-4", "mid-4");
  await sql("commit");
  expect(await search(lists, "mid")).toEqual({ total: Number(before) + 1, counts: 1 });
  await sql("begin");
  await sql("update workspaces set name = 'end-4' where id = 'ws-4'");
  await sql("rollback");
  expect(await search(lists, "mid")).toEqual({ total: Number(before) + 1, counts: 0 });
});

test("counts of one organization are not those of another that takes its name", async () => {
  const lists = newLists();
  // Makes all stamps equal.
  await sql("update workspace_counts set stamp = 0");
  await insertProject(sql, { id: "prj-3", organizationId: "org-2", name: "prj-3" });
  await sql(`insert into workspace_counts (organization_id, project_id, count)
    select 'org-2', 'prj-3', 0`);
  await create("ws-5", "own-5");
  await sql("update workspace_counts set stamp = 0");
  await search(lists, "own");
  await sql("update organizations set name = 'former' where id = 'org-1'");
  await sql("update organizations set name = 'acme' where id = 'org-2'");
  expect(await search(lists, "own")).toEqual({ total: 0, counts: 1 });
});
