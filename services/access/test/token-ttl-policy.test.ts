import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { proves } from "@statehouse/testing/proves";
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

/** Creates an organization with its owner. */
async function organization() {
  const organizationId = `org-lifetimes${++count}`;
  const owner = await access.person();
  const { ownersTeamId } = await access.organizations.provisionOrganization({
    organizationId,
    creatorUserId: owner.id,
    version: 1n,
  });
  let version = 1n;
  const as = () => access.as(owner.secret);
  return {
    organizationId,
    ownersTeamId,
    owner,
    as,
    setMaxTtlEnabled: (maxTtlEnabled: boolean) =>
      access.organizations.setOrganizationSettings({
        organizationId,
        userTokensEnabled: true,
        maxTtlEnabled,
        version: ++version,
      }),
    limit: async (tokenType: string, maxTtlMs: number) => {
      const tokenTtlPolicies = [{ tokenType, maxTtlMs: BigInt(maxTtlMs) }];
      const request = { organizationId, tokenTtlPolicies };
      return (await access.tokenTtlPolicies.updateTokenTtlPolicies(request, as())).tokenTtlPolicies;
    },
  };
}

const maxima = (policies: readonly { tokenType: string; maxTtlMs: bigint }[]) =>
  Object.fromEntries(policies.map(({ tokenType, maxTtlMs }) => [tokenType, Number(maxTtlMs)]));

const within = (ms: number) => timestampFromDate(new Date(Date.now() + ms));

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
    const outsider = await access.person();
    for (const [{ secret }, kind] of [
      [member, "forbidden"],
      [outsider, "notFound"],
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
});

describe("while they apply", () => {
  test("tokens of the organization and its teams expire no later", async () => {
    proves("Credentials/token-ttl-policies: team, organization and audit-trails tokens");
    const { organizationId, ownersTeamId: teamId, as, ...of } = await organization();
    const create = {
      team: (expiredAt?: ReturnType<typeof within>) =>
        access.tokens.createTeamToken({ teamId, ...(expiredAt ? { expiredAt } : {}) }, as()),
      organization: (expiredAt?: ReturnType<typeof within>) =>
        access.tokens.createOrganizationToken(
          { organizationId, ...(expiredAt ? { expiredAt } : {}) },
          as(),
        ),
      "audit-trails": (expiredAt?: ReturnType<typeof within>) =>
        access.tokens.createOrganizationToken(
          { organizationId, slot: "audit-trails", ...(expiredAt ? { expiredAt } : {}) },
          as(),
        ),
    };
    for (const [tokenType, make] of Object.entries(create)) {
      await of.limit(tokenType, HOUR);
      await make(within(DAY));
      await of.setMaxTtlEnabled(true);
      await expect(make(within(HOUR + 60_000)), tokenType).rejects.toMatchObject({
        kind: "invalid",
        fields: [{ field: "expiredAt", detail: expect.stringContaining(`${tokenType} tokens`) }],
      });
      const { token } = await make();
      const lifetime =
        Number((token?.expiredAt?.seconds ?? 0n) - (token?.createdAt?.seconds ?? 0n)) * 1000;
      expect(lifetime, tokenType).toBe(HOUR);
      await make(within(HOUR - 60_000));
      await of.setMaxTtlEnabled(false);
      await make(within(DAY));
    }
  });

  test("a token of a team that exists expires as soon as it is older than the maximum", async () => {
    proves("Credentials/token-ttl-policies: team, organization and audit-trails tokens");
    const { organizationId, ownersTeamId: teamId, as, ...of } = await organization();
    const made = [
      await access.tokens.createTeamToken({ teamId }, as()),
      await access.tokens.createOrganizationToken({ organizationId }, as()),
      await access.tokens.createOrganizationToken({ organizationId, slot: "audit-trails" }, as()),
    ];
    await access.sql(
      "update tokens set created_at = now() - interval '2 hours' where organization_id = $1",
      [organizationId],
    );
    const authenticated = async () => {
      const { found } = await access.authentication.batchAuthenticate({
        tokens: made.map(({ secret }) => secret),
      });
      return found.map(({ position }) => position);
    };
    await of.setMaxTtlEnabled(true);
    expect(await authenticated()).toEqual([0, 1, 2]);
    await of.limit("team", HOUR);
    expect(await authenticated()).toEqual([1, 2]);
    await of.limit("organization", HOUR);
    expect(await authenticated()).toEqual([2]);
    await of.limit("audit-trails", HOUR);
    expect(await authenticated()).toEqual([]);
    await of.limit("team", 3 * HOUR);
    expect(await authenticated()).toEqual([0]);
    await of.setMaxTtlEnabled(false);
    expect(await authenticated()).toEqual([0, 1, 2]);
  });

  test("the version vector withholds the organization from tokens of users that live longer", async () => {
    proves("Credentials/token-ttl-policies: user tokens that live longer");
    const { organizationId, owner, as, ...of } = await organization();
    const versionOf = async (secret: string) => {
      const [, version = ""] =
        new RegExp(`;${organizationId}:(\\d+!?)`).exec(await access.versionsOf(secret)) ?? [];
      return { withheld: version.endsWith("!"), version: BigInt(version.replace("!", "")) };
    };
    const short = await access.tokens.createUserToken({
      userId: owner.id,
      expiredAt: within(HOUR),
    });
    const before = await versionOf(owner.secret);
    await of.limit("user", HOUR);
    const limited = await versionOf(owner.secret);
    expect(limited.withheld).toBe(false);
    expect(limited.version).toBeGreaterThan(before.version);
    await of.setMaxTtlEnabled(true);
    const enabled = await versionOf(owner.secret);
    expect(enabled.withheld).toBe(true);
    expect(enabled.version).toBeGreaterThan(limited.version);
    expect((await versionOf(short.secret)).withheld).toBe(false);
    await access.tokenTtlPolicies.updateTokenTtlPolicies(
      { organizationId, tokenTtlPolicies: [{ tokenType: "user", maxTtlMs: BigInt(TWO_YEARS) }] },
      access.as(short.secret),
    );
    expect((await versionOf(owner.secret)).withheld).toBe(false);
    expect((await versionOf(owner.secret)).version).toBeGreaterThan(enabled.version);
  });

  test("a token of two calendar years satisfies a maximum of two years of 365 days", async () => {
    const { organizationId, owner, ...of } = await organization();
    await of.setMaxTtlEnabled(true);
    for (const [years, days, withheld] of [
      ["2028-03-01", 731, false],
      ["2028-03-01", 732, true],
    ] as const) {
      await access.sql(
        "update tokens set created_at = $2::date - $3::int, expired_at = $2 where user_id = $1",
        [owner.id, years, days],
      );
      const versions = await access.versionsOf(owner.secret);
      expect(versions.includes("!"), `${organizationId} ${days}`).toBe(withheld);
    }
  });
});
