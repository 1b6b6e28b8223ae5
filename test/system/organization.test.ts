import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import {
  errorDetails,
  namesOf,
  newProject,
  newUser,
  newWorkspace,
  problems,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

const input = (name: unknown = unusedName("org"), email: unknown = "owner@example.com") =>
  document("organizations", { name, email });

test("a new organization has its default project and can be read as created", async () => {
  proves(
    "Organizations/list (q), create, show, update, delete",
    "Organizations/creating makes the default",
  );
  const { api } = await newUser(fixture().stack);
  const body = input();
  const created = await api.post("/organizations", body);
  expect(created.status).toBe(201);
  const { name } = body.data.attributes;
  const shown = await api.get(`/organizations/${name}`);
  expect(shown.status).toBe(200);
  expect(shown.body).toEqual(created.body);
  const { data } = created.body;
  expect(data).toMatchObject({
    id: name,
    type: "organizations",
    attributes: { name, email: "owner@example.com", "default-execution-mode": "local" },
    links: { self: `/api/v2/organizations/${name}` },
  });
  const project = await api.get(`/projects/${data.relationships["default-project"].data.id}`);
  expect(project.body.data.attributes).toMatchObject({
    name: "Default Project",
    "is-default": true,
    "workspace-count": 0,
  });
});

test("only requested includes are returned, such as the default project", async () => {
  const { owner, organization } = fixture();
  const path = `/organizations/${organization}`;
  const { body } = await owner.api.get(`${path}?include=default-project`);
  const { id } = body.data.relationships["default-project"].data;
  expect(body.included).toEqual([(await owner.api.get(`/projects/${id}`)).body.data]);
  const unknown = await owner.api.get(`${path}?include=workspaces`);
  expect(unknown.status).toBe(400);
  expect(errorDetails(unknown)[0]).toContain("include parameter");
});

test("the creator owns the organization, and a member may read it", async () => {
  proves("Organizations/creating makes the default");
  const { owner, reader, organization } = fixture();
  const path = `/organizations/${organization}`;
  const own = (await owner.api.get(path)).body.data.attributes;
  expect(own.permissions).toMatchObject({
    "can-update": true,
    "can-destroy": true,
    "can-create-workspace": true,
    "can-create-project": true,
  });
  const read = (await reader.api.get(path)).body.data.attributes;
  expect(read.permissions).toMatchObject({
    "can-update": false,
    "can-destroy": false,
    "can-create-workspace": false,
    "can-traverse": true,
  });
});

test("its document has every attribute that clients read, with the right type", async () => {
  proves(
    "Organizations/assessments-enforced, collaborator-auth-policy, speculative-plan-management-enabled, aggregated-commit-status-enabled",
  );
  const { owner, organization } = fixture();
  const { attributes } = (await owner.api.get(`/organizations/${organization}`)).body.data;
  expect(attributes).toMatchObject({
    name: expect.any(String),
    email: expect.any(String),
    "external-id": expect.any(String),
    "created-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    "collaborator-auth-policy": "password",
    "default-execution-mode": expect.any(String),
    "plan-identifier": "premium",
    "allow-force-delete-workspaces": false,
    "assessments-enforced": false,
    "cost-estimation-enabled": expect.any(Boolean),
    "user-tokens-enabled": true,
    "max-ttl-enabled": false,
    "aggregated-commit-status-enabled": expect.any(Boolean),
    "speculative-plan-management-enabled": expect.any(Boolean),
    "send-passing-statuses-for-untriggered-speculative-plans": expect.any(Boolean),
    "saml-enabled": false,
    "two-factor-conformant": expect.any(Boolean),
  });
  for (const value of Object.values(attributes.permissions)) expect(value).toBeTypeOf("boolean");
});

test("it counts its projects and workspaces for callers who may read all of them", async () => {
  proves("Organizations/project-count, workspace-count");
  const { owner, reader, organization } = fixture();
  const own = await newOrganization(owner.api);
  const counts = async (name: string, { api } = owner) => {
    const { body } = await api.get(`/organizations/${name}`);
    const { attributes } = body.data;
    return [attributes["project-count"], attributes["workspace-count"]];
  };
  expect(await counts(own)).toEqual([1, 0]);
  const within = { organization: own, owner };
  const project = await newProject(within);
  const { id } = await newWorkspace(within, {}, project.id);
  await newWorkspace(within);
  expect(await counts(own)).toEqual([2, 2]);
  expect((await owner.api.delete(`/workspaces/${id}`)).status).toBe(204);
  expect((await owner.api.delete(`/projects/${project.id}`)).status).toBe(204);
  expect(await counts(own)).toEqual([1, 1]);
  expect(await counts(organization, reader)).toEqual([null, null]);
});

test("a taken name is refused, regardless of its owner", async () => {
  proves("Organizations/names");
  const { outsider, organization } = fixture();
  for (const name of [organization, outsider.organization]) {
    const again = await outsider.api.post("/organizations", input(name));
    expect(again.status).toBe(422);
    expect(problems(again)).toEqual({ "/data/attributes/name": "Name has already been taken" });
  }
});

test("one of several concurrent creations with one name succeeds, and the others return 422", async () => {
  const parties = await Promise.all(Array.from({ length: 6 }, () => newUser(fixture().stack)));
  const body = input();
  const answers = await Promise.all(parties.map(({ api }) => api.post("/organizations", body)));
  const statuses = answers.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([201, 422, 422, 422, 422, 422]);
  const winner = parties[answers.findIndex(({ status }) => status === 201)];
  const path = `/organizations/${body.data.attributes.name}`;
  for (const user of parties) {
    expect((await user.api.get(path)).status).toBe(user === winner ? 200 : 404);
  }
});

test("all problems are reported", async () => {
  const { owner } = fixture();
  const empty = await owner.api.post("/organizations", document("organizations", {}));
  expect(Object.keys(problems(empty))).toContain("/data/attributes/name");
  const wrong = await owner.api.post("/organizations", input("a b", "nowhere"));
  expect(wrong.status).toBe(422);
  expect(problems(wrong)).toEqual({
    "/data/attributes/name": "Name is invalid",
    "/data/attributes/email": "Email is invalid",
  });
  const kinds = await owner.api.post("/organizations", input(3, false));
  expect(Object.keys(problems(kinds)).toSorted()).toEqual([
    "/data/attributes/email",
    "/data/attributes/name",
  ]);
});

test("the list contains the caller's organizations: all, filtered, or a page", async () => {
  proves("Organizations/list (q), create, show, update, delete");
  const { api } = await newUser(fixture().stack);
  const prefix = unusedName("list");
  const names: string[] = [];
  for (let number = 0; number < 23; number++) {
    names.push(await newOrganization(api, `${prefix}-${String(number).padStart(2, "0")}`));
  }
  const all = await api.get("/organizations");
  expect(namesOf(all)).toEqual(names);
  expect(all.body.meta.pagination).toMatchObject({ "total-count": 23, "next-page": null });

  const response = await api.get("/organizations?q=-07");
  expect(namesOf(response)).toEqual([`${prefix}-07`]);
  expect(response.body.meta.pagination["total-count"]).toBe(1);

  const page = await api.get("/organizations?page[number]=2&page[size]=10");
  expect(namesOf(page)).toEqual(names.slice(10, 20));
  expect(page.body.meta.pagination).toEqual({
    "current-page": 2,
    "page-size": 10,
    "prev-page": 1,
    "next-page": 3,
    "total-pages": 3,
    "total-count": 23,
  });
  const { links } = page.body;
  expect(namesOf(await api.get(links.next))).toEqual(names.slice(20));
  expect(namesOf(await api.get(links.first))).toEqual(names.slice(0, 10));
  expect(links.last).toBe(links.next);
});

test("PUT updates an organization as PATCH does, and keeps absent attributes", async () => {
  const { owner, outsider } = fixture();
  const name = await newOrganization(owner.api);
  const path = `/organizations/${name}`;
  const before = (await owner.api.get(path)).body.data;
  const email = "put@example.com";
  const changed = await owner.api.send("PUT", path, document("organizations", { email }));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toEqual({ ...before.attributes, email });
  const wrong = await owner.api.send("PUT", path, document("organizations", { email: "nobody" }));
  expect(problems(wrong)).toEqual({ "/data/attributes/email": "Email is invalid" });
  const hidden = await outsider.api.send("PUT", path, document("organizations", {}));
  expect(hidden.status).toBe(404);
});

test("organizations include entitlement_set, and link to their tokens", async () => {
  const { owner, organization } = fixture();
  const path = `/organizations/${organization}`;
  const { body } = await owner.api.get(`${path}?include=entitlement_set`);
  expect(body.included).toEqual([(await owner.api.get(`${path}/entitlement-set`)).body.data]);
  expect(body.data.relationships).toMatchObject({
    "authentication-token": { links: { related: `/api/v2${path}/authentication-token` } },
    "audit-trails-authentication-token": {
      links: { related: `/api/v2${path}/authentication-token?token=audit-trails` },
    },
  });
});
