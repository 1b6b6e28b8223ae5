import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

const HOUR = 3_600_000;
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
      await access.tokenTtlPolicies.updateTokenTtlPolicies(request, as());
    },
  };
}

const within = (ms: number) => timestampFromDate(new Date(Date.now() + ms));

describe("while they apply", () => {
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
