import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { costOf } from "../stack/request-cost.ts";
import { expectStatus } from "../stack/state.ts";
import {
  errorDetails,
  namesOf,
  newProject,
  newTeam,
  newUser,
  newWorkspace,
  problems,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

interface Identifier {
  type: string;
  id: string;
}

const projects = () => `/organizations/${fixture().organization}/projects`;
const input = (attributes: Record<string, unknown>) => document("projects", attributes);

test("a new project can be read as created", async () => {
  proves("Projects/create, show, update, delete");
  const { owner, organization } = fixture();
  const name = `Team ${unusedName("a_b")}`.slice(0, 40);
  const created = await owner.api.post(projects(), input({ name, description: "What it is ✓" }));
  expect(created.status).toBe(201);
  const { data } = created.body;
  expect(data).toMatchObject({
    type: "projects",
    attributes: {
      name,
      description: "What it is ✓",
      "workspace-count": 0,
      "is-default": false,
      "default-execution-mode": "local",
      "setting-overwrites": { "default-execution-mode": false, "default-agent-pool": false },
      "created-at": expect.stringMatching(/\.\d{3}Z$/),
      permissions: { "can-read": true, "can-update": true, "can-create-workspace": true },
    },
    relationships: { organization: { data: { id: organization, type: "organizations" } } },
    links: { self: `/api/v2/projects/${data.id}` },
  });
  expect(data.id).toMatch(/^prj-[A-Za-z0-9]{16}$/);
  const shown = await owner.api.get(`/projects/${data.id}`);
  expect(shown.status).toBe(200);
  expect(shown.body).toEqual(created.body);
});

test("a project counts its workspaces", async () => {
  proves("Projects/workspace-count");
  const project = await newProject(fixture());
  await newWorkspace(fixture(), {}, project.id);
  await newWorkspace(fixture(), {}, project.id);
  const { body } = await fixture().owner.api.get(`/projects/${project.id}`);
  expect(body.data.attributes["workspace-count"]).toBe(2);
});

test("the number of workspaces is null for callers who may not read them", async () => {
  proves("Isolation/lists that leak");
  const project = await newProject(fixture());
  await newWorkspace(fixture(), {}, project.id);
  const { member } = await newTeam(fixture(), ["read-projects"]);
  const { body } = await member.api.get(`/projects/${project.id}`);
  expect(body.data.attributes["workspace-count"]).toBeNull();
  const listed = await member.api.get(`${projects()}?filter[names]=${project.name}`);
  expect(listed.body.data).toMatchObject([{ attributes: { "workspace-count": null } }]);
});

test("workspaces inherit the tag bindings of the project", async () => {
  proves("Tags/effective bindings");
  const { owner } = fixture();
  const created = await owner.api.post(
    projects(),
    document(
      "projects",
      { name: unusedName("tagged") },
      {
        "tag-bindings": {
          data: [{ type: "tag-bindings", attributes: { key: "cost", value: "42" } }],
        },
      },
    ),
  );
  expect(created.status).toBe(201);
  const workspace = await newWorkspace(fixture(), {}, created.body.data.id);
  const effective = await owner.api.get(`/workspaces/${workspace.id}/effective-tag-bindings`);
  expect(effective.body.data).toMatchObject([
    {
      type: "effective-tag-bindings",
      attributes: { key: "cost", value: "42" },
      relationships: { "inherited-from": { data: { id: created.body.data.id, type: "projects" } } },
      links: { "inherited-from": `/api/v2/projects/${created.body.data.id}` },
    },
  ]);
});

// The configuration provider reads a project's tags by including its effective tag bindings. If the response does not
// include them, the provider treats the tags as deleted.
test("effective bindings can be included in show and list", async () => {
  proves("Projects/bindings and effective bindings");
  const { api } = fixture().owner;
  const organization = await newOrganization(api);
  const list = `/organizations/${organization}/projects`;
  const tagged = async (name: string, ...pairs: [key: string, value: string][]) => {
    const data = pairs.map(([key, value]) => ({
      type: "tag-bindings",
      attributes: { key, value },
    }));
    const body = document("projects", { name }, { "tag-bindings": { data } });
    return (await expectStatus(201, api.post(list, body))).body.data.id as string;
  };
  const one = await tagged("one", ["zone", "b"], ["app", "web"]);
  const two = await tagged("two", ["zone", "c"]);
  await tagged("three");
  const effective = async (id: string) =>
    (await api.get(`/projects/${id}/effective-tag-bindings`)).body.data;
  const include = "include=effective_tag_bindings";

  const shown = await expectStatus(200, api.get(`/projects/${one}?${include}`));
  expect(shown.body.included).toEqual(await effective(one));
  expect(shown.body.included).toHaveLength(2);
  const linkage = shown.body.included.map(({ type, id }: Identifier) => ({ type, id }));
  expect(shown.body.data.relationships["effective-tag-bindings"].data).toEqual(linkage);
  const plain = await api.get(`/projects/${one}`);
  expect(plain.body).not.toHaveProperty("included");
  expect(plain.body.data.relationships["effective-tag-bindings"]).not.toHaveProperty("data");

  const listed = await expectStatus(200, api.get(`${list}?${include}`));
  const byId = (a: Identifier, b: Identifier) => (a.id < b.id ? -1 : 1);
  expect(listed.body.included.toSorted(byId)).toEqual(
    [...(await effective(one)), ...(await effective(two))].toSorted(byId),
  );
  const cost = (size: number) => costOf(() => api.get(`${list}?page[size]=${size}&${include}`));
  expect(await cost(4)).toEqual(await cost(1));

  for (const path of [`/projects/${one}`, list]) {
    const refused = await api.get(`${path}?include=workspaces`);
    expect(refused.status).toBe(400);
    expect(errorDetails(refused)[0]).toContain("include parameter");
  }
});

test.each([
  ["of 41 characters", "a".repeat(41), "Name is too long (maximum is 40 characters)"],
  ["that is missing", undefined, "Name is required"],
  ["that is taken", "Default Project", "Name has already been taken"],
])("a name %s is refused", async (_, name, detail) => {
  proves("Versioning/2024-04-25", "Workspace limits/project name up to 40 characters");
  const answer = await fixture().owner.api.post(projects(), input({ name }));
  expect(answer.status).toBe(422);
  expect(problems(answer)).toEqual({ "/data/attributes/name": detail });
});

test("one of several concurrent creations with one name succeeds", async () => {
  const { owner } = fixture();
  const body = input({ name: unusedName("race") });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => owner.api.post(projects(), body)),
  );
  const statuses = answers.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([201, ...Array(7).fill(422)]);
});

test("the list supports search, exact names, sort and pages", async () => {
  proves("Versioning/2024-04-04", "Versioning/2023-03-20", "Projects/list: q, filter[names], sort");
  const { api } = await newUser(fixture().stack);
  const organization = unusedName("org");
  await api.post(
    "/organizations",
    document("organizations", { name: organization, email: "a@b.example" }),
  );
  const path = `/organizations/${organization}/projects`;
  for (const name of ["charlie", "alpha", "alpha_two", "bravo"]) {
    await api.post(path, input({ name }));
  }
  const names = async (query: string) => namesOf(await api.get(`${path}?${query}`));
  expect(await names("sort=name")).toEqual([
    "Default Project",
    "alpha",
    "alpha_two",
    "bravo",
    "charlie",
  ]);
  expect(await names("sort=-name")).toEqual((await names("sort=name")).toReversed());
  expect(await names("q=alpha&sort=name")).toEqual(["alpha", "alpha_two"]);
  expect(await names("q=A_T")).toEqual(["alpha_two"]);
  expect(await names("filter[names]=alpha")).toEqual(["alpha"]);
  expect(await names("filter[names]=bravo,alpha&sort=name")).toEqual(["alpha", "bravo"]);
  expect(await names("filter[names]=alp")).toEqual([]);
  const page = await api.get(`${path}?sort=name&page[size]=2&page[number]=2`);
  expect(namesOf(page)).toEqual((await names("sort=name")).slice(2, 4));
  expect(page.body.meta.pagination).toMatchObject({ "total-count": 5, "total-pages": 3 });
  expect((await api.get(`${path}?sort=nonsense`)).status).toBe(400);
});

test("the list contains and counts only readable projects", async () => {
  const { reader, readable } = fixture();
  await newProject(fixture());
  const listed = await reader.api.get(projects());
  expect(listed.status).toBe(200);
  expect(namesOf(listed)).toEqual([readable.name]);
  expect(listed.body.meta.pagination["total-count"]).toBe(1);
});

test("unknown projects are not found", async () => {
  const { owner, outsider } = fixture();
  expect((await owner.api.get("/projects/prj-0000000000000000")).status).toBe(404);
  expect((await owner.api.get("/organizations/nowhere/projects")).status).toBe(404);
  const elsewhere = `/organizations/${outsider.organization}/projects`;
  expect((await owner.api.post(elsewhere, input({ name: "abc" }))).status).toBe(404);
});

test("a reader may not create a project", async () => {
  const answer = await fixture().reader.api.post(projects(), input({ name: unusedName("no") }));
  expect(answer.status).toBe(404);
});
