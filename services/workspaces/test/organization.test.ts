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

const create = (name: string, as: Person) =>
  running.organizations.createOrganization({ name, email: "owner@example.com" }, as);

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
