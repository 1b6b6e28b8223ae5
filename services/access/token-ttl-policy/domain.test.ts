import { expect, test } from "vitest";
import { newOrganization } from "../organization/domain.ts";
import { problemsOf } from "../test/problems-of.ts";
import {
  applyTokenTtlPolicies,
  defaultTokenTtlPolicy,
  limitedTokenTypes,
  type TokenTtlPolicyInput,
} from "./domain.ts";

const at = new Date("2026-02-03T04:05:06.789Z");
const now = new Date("2026-03-03T04:05:06.789Z");
const organization = newOrganization("org-1", 1n, at);
const defaults = () => limitedTokenTypes.map((type) => defaultTokenTtlPolicy(organization, type));

const problems = (inputs: readonly TokenTtlPolicyInput[]) =>
  problemsOf((problems) => {
    applyTokenTtlPolicies(defaults(), inputs, { problems, now });
  });

test("tokens of each type live two years by default", () => {
  expect(defaults().map(({ tokenType, maxTtlMs }) => [tokenType, maxTtlMs])).toEqual([
    ["user", 63_072_000_000n],
    ["team", 63_072_000_000n],
    ["organization", 63_072_000_000n],
    ["audit-trails", 63_072_000_000n],
  ]);
});

test("the given maxima are set, and those of other token types do not change", () => {
  const policies = defaults();
  const [user, team] = policies;
  const inputs = [{ tokenType: "team", maxTtlMs: 3_600_000n }];
  const changed = applyTokenTtlPolicies(policies, inputs, {
    problems: { add: () => expect.unreachable() } as never,
    now,
  });
  expect(changed).toEqual([team]);
  expect(team).toMatchObject({ maxTtlMs: 3_600_000n, createdAt: at, updatedAt: now });
  expect(user).toEqual(defaultTokenTtlPolicy(organization, "user"));
});

test("every problem is reported at once, with its field", () => {
  expect(
    problems([
      { tokenType: "run", maxTtlMs: 999n },
      { tokenType: "user", maxTtlMs: 1000n },
      { tokenType: "user", maxTtlMs: 315_360_000_000_001n },
    ]),
  ).toEqual([
    {
      field: "tokenTtlPolicies[0].tokenType",
      detail:
        "Token type 'run' is unknown; expected one of user, team, organization, audit-trails.",
    },
    {
      field: "tokenTtlPolicies[0].maxTtlMs",
      detail: "Max ttl ms 999 is out of range; expected 1000 to 315360000000000.",
    },
    {
      field: "tokenTtlPolicies[2].tokenType",
      detail: "Token type 'user' is listed twice; expected once.",
    },
    {
      field: "tokenTtlPolicies[2].maxTtlMs",
      detail: "Max ttl ms 315360000000001 is out of range; expected 1000 to 315360000000000.",
    },
  ]);
});
