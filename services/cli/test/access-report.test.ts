import { type RunningAccess, runAccess } from "@statehouse/access/test/running-access";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

const organizationId = "org-reported";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
  const owner = await access.person("olga");
  const member = await access.person("max");
  await access.organizations.provisionOrganization({ organizationId, creatorUserId: owner.id });
  const as = access.as(owner.secret);
  const { team } = await access.teams.createTeam(
    {
      organizationId,
      settings: { name: "deployers", organizationAccess: { "manage-modules": true } },
    },
    as,
  );
  const teamId = team?.id ?? "";
  await access.teams.addTeamMember({ teamId, userId: member.id });
  access.placeProject("prj-network", organizationId);
  await access.teamAccess.createTeamAccess(
    { teamId, targetType: "project", targetId: "prj-network", access: "write" },
    as,
  );
  await access.tokens.createOrganizationToken({ organizationId, slot: "audit-trails" }, as);
  await access.tokens.createTeamToken({ teamId, description: "deployment" }, as);
});
afterAll(() => access[Symbol.asyncDispose]());

const report = async (...args: string[]) => {
  const env = { ACCESS_DATABASE_URL: access.environment.DATABASE_URL };
  const { code, stdout, stderr } = await statehouse(["access-report", ...args], env);
  if (code !== 0) throw new Error(stderr);
  return stdout;
};

test("--json writes the same report with all times and ids", async () => {
  const { members, teams, tokens, ...more } = JSON.parse(await report(organizationId, "--json"));
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(more).toEqual({ organization: { id: organizationId, userTokens: true }, runs: [] });
  expect(members).toMatchObject([
    { username: "max", status: "active", suspended: false, since: time, teams: ["deployers"] },
    { username: "olga", status: "active", suspended: false, since: time, teams: ["owners"] },
  ]);
  expect(teams).toMatchObject([
    { name: "owners", owners: true, since: time, members: [{ username: "olga", since: time }] },
    {
      ...{ name: "deployers", owners: false, since: time, organizationAccess: ["manage-modules"] },
      members: [{ username: "max", since: time }],
      grants: [{ targetType: "project", targetId: "prj-network", access: "write", since: time }],
    },
  ]);
  expect(tokens).toContainEqual(
    expect.objectContaining({
      type: "team",
      owner: "deployers",
      description: "deployment",
      since: time,
    }),
  );
  for (const token of tokens) {
    expect(Object.keys(token).toSorted()).toEqual([
      "createdById",
      "description",
      "expiresAt",
      "id",
      "lastUsedAt",
      "owner",
      "since",
      "type",
    ]);
  }
});

test("the report names members, teams, permissions and tokens with their times", async () => {
  const today = new Date().toISOString().slice(0, 10);
  const text = await report(organizationId);
  for (const row of [
    `max    max@example.com   active  ${today}`,
    `olga   olga@example.com  active  ${today}    owners`,
    `deployers  organization         manage-modules  ${today} (team)`,
    `deployers  project prj-network  write           ${today}`,
    `owners     organization         everything      ${today}`,
  ]) {
    expect(text.replaceAll(/ +/g, " ")).toContain(row.replaceAll(/ +/g, " "));
  }
  expect(text).toMatch(/audit-trails +at-\w+ +2/);
  expect(text).toMatch(/team +deployers +at-\w+ +deployment/);
  expect(text).toMatch(/user +max +at-\w+/);
});
