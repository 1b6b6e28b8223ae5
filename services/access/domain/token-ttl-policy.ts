import { type Problems, quoted } from "@statehouse/errors";
import type { OrganizationId } from "./ids.ts";
import type { Organization } from "./organization.ts";

/** The types of tokens whose lifetime an organization limits, in the order of lists. */
export const limitedTokenTypes = ["user", "team", "organization", "audit-trails"] as const;
export type LimitedTokenType = (typeof limitedTokenTypes)[number];

/** The maximum lifetime of an organization's tokens of one type. It applies while the organization has `maxTtlEnabled`. */
export class TokenTtlPolicy {
  declare readonly organizationId: OrganizationId;
  declare readonly tokenType: LimitedTokenType;
  declare maxTtlMs: bigint;
  declare readonly createdAt: Date;
  declare updatedAt: Date;

  constructor(fields: TokenTtlPolicy) {
    Object.assign(this, fields);
  }
}

/** Two years. */
export const DEFAULT_MAX_TTL_MS = 63_072_000_000n;
/** With a shorter lifetime no token could be used long enough to raise the maximum. */
const LEAST_MS = 1000n;
/** Ten thousand years. */
const MOST_MS = 315_360_000_000_000n;

/** The policy of a type until the organization sets another one. */
export const defaultTokenTtlPolicy = (
  { id, createdAt }: Organization,
  tokenType: LimitedTokenType,
): TokenTtlPolicy =>
  new TokenTtlPolicy({
    organizationId: id,
    tokenType,
    maxTtlMs: DEFAULT_MAX_TTL_MS,
    createdAt,
    updatedAt: createdAt,
  });

export interface TokenTtlPolicyInput {
  tokenType: string;
  maxTtlMs: bigint;
}

/** Applies the given maxima to the policies of all types; adds broken rules to `problems`. Returns the given ones. */
export function applyTokenTtlPolicies(
  policies: readonly TokenTtlPolicy[],
  wanted: readonly TokenTtlPolicyInput[],
  { problems, now }: { problems: Problems; now: Date },
): TokenTtlPolicy[] {
  const given = new Set<TokenTtlPolicy>();
  for (const [index, { tokenType, maxTtlMs }] of wanted.entries()) {
    const at = `tokenTtlPolicies[${index}]`;
    const policy = policies.find((known) => known.tokenType === tokenType);
    if (!policy) {
      const known = limitedTokenTypes.join(", ");
      problems.add(
        `${at}.tokenType`,
        `Token type ${quoted(tokenType)} is unknown; expected one of ${known}.`,
      );
    } else if (given.has(policy)) {
      problems.add(`${at}.tokenType`, `Token type '${tokenType}' is listed twice; expected once.`);
    }
    if (maxTtlMs < LEAST_MS || maxTtlMs > MOST_MS) {
      problems.add(
        `${at}.maxTtlMs`,
        `Max ttl ms ${maxTtlMs} is out of range; expected ${LEAST_MS} to ${MOST_MS}.`,
      );
    }
    if (!policy) continue;
    policy.maxTtlMs = maxTtlMs;
    policy.updatedAt = now;
    given.add(policy);
  }
  return [...given];
}

/** The organization's version is the event's revision. */
export const tokenTtlPolicyUpdated = (tokenTtlPolicy: TokenTtlPolicy, revision: bigint) =>
  ({ type: "tokenTtlPolicyUpdated", revision, tokenTtlPolicy }) as const;

export type TokenTtlPolicyEvent = ReturnType<typeof tokenTtlPolicyUpdated>;
