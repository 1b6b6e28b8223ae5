import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let outsider: Person;
beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  outsider = await running.person();
});
afterAll(() => running[Symbol.asyncDispose]());

const create = (name: string, as: Person, email = "owner@example.com") =>
  running.organizations.createOrganization({ name, email }, as);

test("a created organization can be read as returned, with its default project", async () => {
  const { organization } = await create(running.unique("acme"), owner);
  expect(organization).toMatchObject({
    email: "owner@example.com",
    defaultExecutionMode: "local",
    externalId: organization?.id,
  });
  expect(organization?.allowedActions).toContain("workspace:force-delete");
  const name = organization?.name ?? "";
  const shown = await running.organizations.getOrganization({ name }, owner);
  expect(shown.organization).toEqual(organization);
  const { projects, totalCount } = await running.projects.listProjects(
    { organizationName: name },
    owner,
  );
  expect(totalCount).toBe(1);
  expect(projects[0]).toMatchObject({
    id: organization?.defaultProjectId,
    name: "Default Project",
    isDefault: true,
    organizationName: name,
    workspaceCount: 0,
  });
});

test("other users do not see it, and its name is taken", async () => {
  const { organization } = await create(running.unique("acme"), owner);
  const name = organization?.name ?? "";
  const id = organization?.id ?? "";
  expect(await failureOf(running.organizations.getOrganization({ name }, outsider))).toMatchObject({
    kind: "notFound",
  });
  const { organizations } = await running.organizations.listOrganizations({}, outsider);
  expect(organizations).toEqual([]);
  const batch = await running.organizations.batchGetOrganizations({ ids: [id, "junk"] }, outsider);
  expect(batch.organizations).toEqual([]);
  expect((await failureOf(create(name, outsider))).fields).toEqual([
    { field: "name", detail: "Name has already been taken" },
  ]);
});

test.each([
  ["a short name", "ab", "a@b.co", ["name"]],
  ["a name with spaces", "a b c", "a@b.co", ["name"]],
  ["a name in unicode", "ünïcode", "a@b.co", ["name"]],
  ["a name with NUL", "a\0bc", "a@b.co", ["name"]],
  ["a name of 10,000 characters", "a".repeat(10_000), "a@b.co", ["name"]],
  ["an address without host", "acme", "nobody", ["email"]],
  ["an empty request", "", "", ["name", "email"]],
])("%s is refused with all problems", async (_, name, email, fields) => {
  const failure = await failureOf(create(name, owner, email));
  expect(failure.kind).toBe("invalid");
  expect(failure.fields.map(({ field }) => field)).toEqual(fields);
});

test("of concurrent creations with one name one succeeds, and the others report the field", async () => {
  const name = running.unique("race");
  const people = [owner, outsider, await running.person(), await running.person()];
  const outcomes = await Promise.allSettled(people.map((person) => create(name, person)));
  const lost = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [outcome.reason] : [],
  );
  expect(lost).toHaveLength(3);
  for (const reason of lost) expect(reason.fields).toMatchObject([{ field: "name" }]);
});

test.each(["request", "answer"] as const)(
  "while access's %s is lost the organization does not exist, and a repeat completes the creation",
  async (loss) => {
    const name = running.unique("half");
    const found = running.toAccess.lose("ProvisionOrganization", loss);
    try {
      expect(await failureOf(create(name, owner))).toMatchObject({ kind: "unavailable" });
      const shown = running.organizations.getOrganization({ name }, owner);
      expect(await failureOf(shown)).toMatchObject({ kind: "notFound" });
      expect(await failureOf(create(name, outsider))).toMatchObject({ kind: "invalid" });
      expect(await failureOf(create(name, owner))).toMatchObject({ kind: "unavailable" });
    } finally {
      found();
    }
    // Repeats the creation. If the organization's event has completed the creation already, the repeat fails and the
    // organization is read instead.
    const { organization } = await create(name, owner).catch(() =>
      running.organizations.getOrganization({ name }, owner),
    );
    expect(organization?.name).toBe(name);
    expect(
      await running.sql("select from projects where organization_id = $1", [organization?.id]),
    ).toHaveLength(1);
  },
);

test("the access service never has an organization without its settings", async () => {
  const person = await running.person();
  const name = running.unique("strict");
  const email = "owner@example.com";
  const found = running.toAccess.lose("SetOrganizationSettings", "request");
  try {
    const settings = { userTokensEnabled: false, maxTtlEnabled: true };
    const { organization } = await running.organizations.createOrganization(
      { name, email, settings },
      person,
    );
    const stored = "select user_tokens_enabled, max_ttl_enabled from organizations where id = $1";
    const rows = await running.accessSql(stored, [organization?.id]);
    expect(rows).toEqual([{ user_tokens_enabled: false, max_ttl_enabled: true }]);
  } finally {
    found();
  }
  const shown = running.organizations.getOrganization({ name }, person);
  expect(await failureOf(shown)).toMatchObject({ kind: "unauthenticated" });
});

test("its event completes a creation that is not repeated", async () => {
  const name = running.unique("forgotten");
  const found = running.toAccess.lose("ProvisionOrganization", "request");
  await failureOf(create(name, owner));
  found();
  const { organization } = await waitFor(() =>
    running.organizations.getOrganization({ name }, owner),
  );
  expect(organization?.name).toBe(name);
});

test("the list contains the caller's organizations, filtered by name and in pages", async () => {
  const person = await running.person();
  for (const name of ["zeta_one", "alpha-two", "alpha-one"]) await create(name, person);
  const list = async (request: { query?: string; pageNumber?: number; pageSize?: number }) => {
    const answer = await running.organizations.listOrganizations(request, person);
    return [answer.totalCount, ...answer.organizations.map(({ name }) => name)];
  };
  expect(await list({})).toEqual([3, "alpha-one", "alpha-two", "zeta_one"]);
  expect(await list({ query: "A_ON" })).toEqual([1, "zeta_one"]);
  expect(await list({ query: "a\0lpha" })).toEqual([2, "alpha-one", "alpha-two"]);
  expect(await list({ pageNumber: 2, pageSize: 2 })).toEqual([3, "zeta_one"]);
  expect(await list({ pageNumber: 9, pageSize: 2 })).toEqual([3]);
});
