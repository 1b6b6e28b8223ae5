import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TWO_YEARS = 63_072_000_000;

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

let count = 0;

/** An organization with its owner. */
async function organization() {
  const organizationId = `org-lifetimes${++count}`;
  const owner = await access.person();
  const { ownersTeamId } = await access.organizations.provisionOrganization({
    organizationId,
    creatorUserId: owner.id,
    version: 1n,
  });
  const as = () => access.as(owner.secret);
  return {
    organizationId,
    ownersTeamId,
    as,
    limit: async (tokenType: string, maxTtlMs: number) => {
      const tokenTtlPolicies = [{ tokenType, maxTtlMs: BigInt(maxTtlMs) }];
      const request = { organizationId, tokenTtlPolicies };
      return (await access.tokenTtlPolicies.updateTokenTtlPolicies(request, as())).tokenTtlPolicies;
    },
  };
}

const maxima = (policies: readonly { tokenType: string; maxTtlMs: bigint }[]) =>
  Object.fromEntries(policies.map(({ tokenType, maxTtlMs }) => [tokenType, Number(maxTtlMs)]));

describe("the policies of an organization", () => {
  test("are listed for each type of token, and keep what an update does not name", async () => {
    const { organizationId, as, limit } = await organization();
    const list = async (pageNumber: number, pageSize: number) =>
      access.tokenTtlPolicies.listTokenTtlPolicies({ organizationId, pageNumber, pageSize }, as());
    const all = { user: TWO_YEARS, team: TWO_YEARS, organization: TWO_YEARS };
    expect(maxima((await list(1, 20)).tokenTtlPolicies)).toEqual({
      ...all,
      "audit-trails": TWO_YEARS,
    });
    expect(maxima(await limit("team", DAY))).toEqual({
      ...all,
      team: DAY,
      "audit-trails": TWO_YEARS,
    });
    await limit("team", HOUR);
    const { tokenTtlPolicies, totalCount } = await list(2, 3);
    expect(maxima(tokenTtlPolicies)).toEqual({ "audit-trails": TWO_YEARS });
    expect(totalCount).toBe(4);
    expect(maxima((await list(1, 20)).tokenTtlPolicies)).toEqual({
      ...all,
      team: HOUR,
      "audit-trails": TWO_YEARS,
    });
  });

  test("are for owners only", async () => {
    const { organizationId, limit } = await organization();
    const member = await access.person();
    const { team } = await access.teams.createTeam({ organizationId, settings: { name: "all" } });
    await access.teams.addTeamMember({ teamId: team?.id ?? "", userId: member.id });
    const stranger = await access.person();
    for (const [{ secret }, kind] of [
      [member, "forbidden"],
      [stranger, "notFound"],
    ] as const) {
      const as = access.as(secret);
      const page = { pageNumber: 1, pageSize: 20 };
      await expect(
        access.tokenTtlPolicies.listTokenTtlPolicies({ organizationId, ...page }, as),
      ).rejects.toMatchObject({ kind });
      await expect(
        access.tokenTtlPolicies.updateTokenTtlPolicies({ organizationId }, as),
      ).rejects.toMatchObject({ kind });
    }
    await limit("team", DAY);
  });

  test("are refused with every problem, and nothing is changed", async () => {
    const { organizationId, as } = await organization();
    const tokenTtlPolicies = [
      { tokenType: "team", maxTtlMs: BigInt(DAY) },
      { tokenType: "run", maxTtlMs: -1n },
    ];
    const refused = access.tokenTtlPolicies.updateTokenTtlPolicies(
      { organizationId, tokenTtlPolicies },
      as(),
    );
    await expect(refused).rejects.toMatchObject({
      kind: "invalid",
      fields: [
        { field: "tokenTtlPolicies[1].tokenType" },
        { field: "tokenTtlPolicies[1].maxTtlMs" },
      ],
    });
    const listed = await access.tokenTtlPolicies.listTokenTtlPolicies(
      { organizationId, pageNumber: 1, pageSize: 20 },
      as(),
    );
    expect(maxima(listed.tokenTtlPolicies).team).toBe(TWO_YEARS);
  });
});
