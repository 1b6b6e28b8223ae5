import { proves } from "@statehouse/testing/proves";
import { beforeAll, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { type ApiUser, namesOf, newProject, newUser, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

/** The owner of a separate organization, because lists count all objects of an organization. */
let owner: ApiUser;
let organization: string;
let path: string;
let project: { id: string };

const tagged = (key: string, value: string) => ({
  type: "tag-bindings",
  attributes: { key, value },
});

beforeAll(async () => {
  owner = await newUser(fixture().stack);
  organization = await newOrganization(owner.api);
  path = `/organizations/${organization}/workspaces`;
  project = await newProject({ organization, owner });
  for (const [name, tags, projectId] of [
    ["net-east", ["app", "blue"], project.id],
    ["net-west", ["app"], project.id],
    ["app_one", ["blue"], undefined],
    ["APP-two", [], undefined],
  ] as const) {
    const made = await owner.api.post(
      path,
      document(
        "workspaces",
        { name },
        {
          tags: { data: tags.map((tag) => ({ type: "tags", attributes: { name: tag } })) },
          ...(projectId ? { project: { data: { type: "projects", id: projectId } } } : {}),
        },
      ),
    );
    expect(made.status).toBe(201);
  }
});

const names = async (query: string) => namesOf(await owner.api.get(`${path}?${query}`)).toSorted();

test("the list contains complete documents, equal to those of the single workspaces", async () => {
  proves("Workspace endpoints/GET organizations/:o/workspaces");
  const listed = await owner.api.get(path);
  expect(listed.status).toBe(200);
  expect(listed.body.data).toHaveLength(4);
  for (const data of listed.body.data) {
    expect((await owner.api.get(`/workspaces/${data.id}`)).body.data).toEqual(data);
  }
});

test("a part of the name matches in any case, and special characters match themselves", async () => {
  proves("Workspace list/search[name]", "Workspace list/brackets percent-encoded or not");
  expect(await names("search[name]=net-")).toEqual(["net-east", "net-west"]);
  expect(await names("search%5Bname%5D=app")).toEqual(["APP-two", "app_one"]);
  expect(await names("search[name]=_")).toEqual(["app_one"]);
  expect(await names("search[name]=%25")).toEqual([]);
  expect(await names("search[name]=%5C")).toEqual([]);
  expect(await names("search[name]=")).toHaveLength(4);
});

test("several tags must all match", async () => {
  proves("Versioning/2022-06-09", "Workspace list/search[tags]");
  expect(await names("search[tags]=app")).toEqual(["net-east", "net-west"]);
  expect(await names("search[tags]=app,blue,app")).toEqual(["net-east"]);
  expect(await names("search[tags]=blue&search[name]=app")).toEqual(["app_one"]);
  expect(await names("search[tags]=app,unknown")).toEqual([]);
});

test("the list can be filtered by project", async () => {
  proves("Workspace list/filter[project][id]");
  expect(await names(`filter[project][id]=${project.id}`)).toEqual(["net-east", "net-west"]);
  expect(await names(`filter[project][id]=${project.id}&search[tags]=blue`)).toEqual(["net-east"]);
  expect(await names("filter[project][id]=prj-0000000000000000")).toEqual([]);
});

test("excluding tags hides workspaces that have any of these tags, in both spellings of the parameter", async () => {
  proves("Versioning/2022-06-21", "Workspace list/search[exclude-tags]");
  expect(await names("search[exclude-tags]=app")).toEqual(["APP-two", "app_one"]);
  expect(await names("search[exclude_tags]=app,blue")).toEqual(["APP-two"]);
  expect(await names("search[tags]=blue&search[exclude-tags]=app")).toEqual(["app_one"]);
});

test("a star matches anything at the start, at the end, or both", async () => {
  proves("Workspace list/search[wildcard-name]");
  expect(await names("search[wildcard-name]=net-*")).toEqual(["net-east", "net-west"]);
  expect(await names("search[wildcard-name]=*one")).toEqual(["app_one"]);
  expect(await names("search[wildcard-name]=*p*")).toEqual(["APP-two", "app_one"]);
  expect(await names("search[wildcard-name]=net-east")).toEqual(["net-east"]);
  expect(await names("search[wildcard-name]=net")).toEqual([]);
});

test("the list can be sorted by name or latest change in both directions; other orders are refused", async () => {
  proves("Versioning/2023-03-30", "Workspace list/sort: name, latest-change-at, a");
  const sorted = async (sort: string) => namesOf(await owner.api.get(`${path}?sort=${sort}`));
  const byName = await sorted("name");
  expect(byName).toEqual(byName.toSorted());
  expect(await sorted("-name")).toEqual(byName.toReversed());
  // For a workspace without state, the latest change is its creation.
  const made = ["net-east", "net-west", "app_one", "APP-two"];
  expect((await sorted("latest-change-at")).filter((name) => made.includes(name))).toEqual(made);
  expect(await sorted("-latest-change-at")).toEqual(
    (await sorted("latest-change-at")).toReversed(),
  );
  expect((await owner.api.get(`${path}?sort=size`)).status).toBe(400);
});

test("bindings are matched by key, by value and by both, and all must match", async () => {
  proves("Workspace list/filter[tagged][i][key] and [value]");
  const own = await newOrganization(owner.api);
  const workspace = (name: string, bindings: [string, string][]) =>
    owner.api.post(
      `/organizations/${own}/workspaces`,
      document(
        "workspaces",
        { name },
        { "tag-bindings": { data: bindings.map((b) => tagged(...b)) } },
      ),
    );
  await workspace("a", [
    ["env", "prod"],
    ["team", "core"],
  ]);
  await workspace("b", [
    ["env", "test"],
    ["team", "core"],
  ]);
  await workspace("c", [["env", ""]]);
  const find = async (query: string) =>
    namesOf(await owner.api.get(`/organizations/${own}/workspaces?${query}`));
  expect(await find("filter[tagged][0][key]=env")).toEqual(["a", "b", "c"]);
  expect(await find("filter[tagged][0][key]=env&filter[tagged][0][value]=prod")).toEqual(["a"]);
  expect(await find("filter[tagged][0][value]=core")).toEqual(["a", "b"]);
  const either =
    "filter[tagged][0][key]=env&filter[tagged][0][value]=prod&filter[tagged][1][key]=env&filter[tagged][1][value]=test";
  expect(await find(either)).toEqual([]);
  expect(await find(`${either}&filter[tag-union]=true`)).toEqual(
    [
      ...(await find("filter[tagged][0][key]=env&filter[tagged][0][value]=prod")),
      ...(await find("filter[tagged][0][key]=env&filter[tagged][0][value]=test")),
    ].toSorted(),
  );
  expect(
    await find(
      "filter[tagged][0][key]=team&filter[tagged][1][key]=env&filter[tagged][1][value]=test",
    ),
  ).toEqual(["b"]);
});

test("pages contain each workspace once, with correct totals and links", async () => {
  proves("Workspace endpoints/GET organizations/:o/workspaces", "Workspace list/page[number]");
  const seen: string[] = [];
  let next: string | null = `${path}?page[size]=3&search[name]=e`;
  const totals = new Set<number>();
  while (next) {
    const page: Awaited<ReturnType<typeof owner.api.get>> = await owner.api.get(next);
    expect(page.status).toBe(200);
    seen.push(...namesOf(page));
    totals.add(page.body.meta.pagination["total-count"]);
    expect(page.body.links.next === null).toBe(page.body.meta.pagination["next-page"] === null);
    next = page.body.links.next;
    if (next) expect(decodeURIComponent(next)).toContain("search[name]=e");
  }
  expect(seen.toSorted()).toEqual(await names("search[name]=e"));
  expect([...totals]).toEqual([3]);

  const one = await owner.api.get(`${path}?page[size]=1&page[number]=2`);
  expect(one.body.meta.pagination).toEqual({
    "current-page": 2,
    "page-size": 1,
    "prev-page": 1,
    "next-page": 3,
    "total-pages": 4,
    "total-count": 4,
  });
  expect(one.body.links.self).toContain(`${fixture().url}/api/v2${path}`);
});

test("a page has 20 workspaces by default", async () => {
  proves(
    "Workspace list/page[size]",
    "Workspace limits/default page size 20 of workspaces, consumers, tags",
  );
  const own = await newOrganization(owner.api);
  for (let made = 0; made < 21; made++) await newWorkspace({ organization: own, owner });
  const { body } = await owner.api.get(`/organizations/${own}/workspaces`);
  expect(body.data).toHaveLength(20);
  expect(body.meta.pagination).toMatchObject({ "total-count": 21, "next-page": 2 });
});

test("a reader's list contains only readable workspaces in full pages", async () => {
  proves("Workspace list/in every combination, stable, exact, full");
  const { reader, readable, organization: shared } = fixture();
  for (let made = 0; made < 3; made++) {
    await newWorkspace(fixture());
    await newWorkspace(fixture(), {}, readable.id);
  }
  const { body } = await reader.api.get(`/organizations/${shared}/workspaces?page[size]=2`);
  expect(body.data).toHaveLength(2);
  expect(body.meta.pagination["total-count"]).toBe(3);
  for (const { relationships } of body.data) {
    expect(relationships.project.data.id).toBe(readable.id);
  }
});

test("an unknown or foreign organization has no list", async () => {
  for (const name of ["nowhere", fixture().outsider.organization]) {
    expect((await owner.api.get(`/organizations/${name}/workspaces`)).status).toBe(404);
  }
  expect((await owner.api.get(`${path}?page[size]=x`)).status).toBe(400);
});

test("tags and bindings without a value match the same workspaces", async () => {
  const workspace = await newWorkspace({ organization, owner });
  const bindings = { data: [tagged("shared", ""), tagged("team", "core")] };
  const set = await owner.api.patch(`/workspaces/${workspace.id}/tag-bindings`, bindings);
  expect(set.status).toBe(200);
  expect(await names("search[tags]=shared")).toEqual([workspace.attributes.name]);
});
