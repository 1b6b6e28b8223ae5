import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

test("creates the owners team with the creator as a member", async () => {
  const { id, secret } = await access.person();
  const { ownersTeamId } = await access.organizations.provisionOrganization({
    organizationId: "org-new",
    creatorUserId: id,
    version: 1n,
  });
  const { teams } = await access.teams.batchGetTeams({ ids: [ownersTeamId] }, access.as(secret));
  expect(teams).toMatchObject([
    { id: ownersTeamId, organizationId: "org-new", name: "owners", usersCount: 1 },
  ]);
});

test("the settings apply from the creation on, and a later version replaces them", async () => {
  const { id } = await access.person();
  const provision = (version: bigint, userTokensEnabled: boolean) =>
    access.organizations.provisionOrganization({
      organizationId: "org-restricted",
      creatorUserId: id,
      version,
      userTokensEnabled,
      maxTtlEnabled: true,
    });
  const refused = async () => {
    const principal = { principalType: "user", principalId: id };
    const { grants } = await access.grants.getGrants(principal);
    return grants?.organizations.map((organization) => organization.refused);
  };
  await provision(2n, false);
  expect(await refused()).toEqual([true]);
  const stored = "select max_ttl_enabled from organizations where id = 'org-restricted'";
  expect(await access.sql(stored)).toEqual([{ max_ttl_enabled: true }]);
  for (const version of [1n, 2n]) {
    await provision(version, true);
    expect(await refused()).toEqual([true]);
  }
  await provision(3n, true);
  expect(await refused()).toEqual([false]);
});

test("a repeated provisioning returns the same team and adds no other creator", async () => {
  const [creator, other] = [await access.person(), await access.person()];
  const provision = (creatorUserId: string, version: bigint) =>
    access.organizations.provisionOrganization({
      organizationId: "org-repeated",
      creatorUserId,
      version,
    });
  const first = await provision(creator.id, 1n);
  expect(await provision(creator.id, 1n)).toEqual(first);
  expect(await provision(other.id, 2n)).toEqual(first);
  const { grants } = await access.grants.getGrants({
    principalType: "user",
    principalId: other.id,
  });
  expect(grants?.organizations).toEqual([]);
});

test("twenty concurrent calls create one organization with one owners team", async () => {
  const people = await Promise.all(Array.from({ length: 20 }, () => access.person()));
  const answers = await Promise.all(
    people.map(({ id }) =>
      access.organizations.provisionOrganization({
        organizationId: "org-parallel",
        creatorUserId: id,
      }),
    ),
  );
  expect(new Set(answers.map(({ ownersTeamId }) => ownersTeamId)).size).toBe(1);
  const rows = await access.sql<{ teams: number; members: number }>(
    `select (select count(*)::int from teams where organization_id = $1) as teams,
            (select count(*)::int from team_members where organization_id = $1) as members`,
    ["org-parallel"],
  );
  expect(rows).toEqual([{ teams: 1, members: 1 }]);
});

test("an unknown creator changes nothing", async () => {
  const provision = access.organizations.provisionOrganization({
    organizationId: "org-nobody",
    creatorUserId: "user-ABCDEFGHabcdefgh",
  });
  await expect(provision).rejects.toMatchObject({ kind: "notFound" });
  expect(await access.sql("select from organizations where id = 'org-nobody'")).toEqual([]);
  const { id } = await access.person();
  await access.organizations.provisionOrganization({
    organizationId: "org-nobody",
    creatorUserId: id,
  });
});
