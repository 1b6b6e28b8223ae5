import { type Problems, quoted } from "@statehouse/errors";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId } from "../ids-domain.ts";
import type { Organization } from "../organization/domain.ts";

/** The types of tokens whose lifetime an organization can limit, in the order in which lists show them. */
export const limitedTokenTypes = ["user", "team", "organization", "audit-trails"] as const;
export type LimitedTokenType = (typeof limitedTokenTypes)[number];

/**
 * The maximum lifetime of an organization's tokens of one type. It applies only while the organization's
 * `maxTtlEnabled` is true.
 */
export class TokenTtlPolicy {
  declare readonly organizationId: OrganizationId;
  declare readonly tokenType: LimitedTokenType;
  declare maxTtlMs: bigint;
  declare readonly createdAt: Date;
  declare updatedAt: Date;
}

/** Two years of 365 days, in ms. */
export const DEFAULT_MAX_TTL_MS = 63_072_000_000n;
/**
 * The shortest maximum lifetime that an organization can set, in ms. Tokens with a shorter lifetime would expire before
 * they could be used to raise the maximum.
 */
const MIN_MS = 1000n;
/** The longest maximum lifetime that an organization can set, in ms: ten thousand years of 365 days. */
const MAX_MS = 315_360_000_000_000n;

/** Returns the policy that applies to a type of token until the organization sets another one. */
export const defaultTokenTtlPolicy = (
  { id, createdAt }: Organization,
  tokenType: LimitedTokenType,
): TokenTtlPolicy =>
  newRow(TokenTtlPolicy, {
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

/**
 * Applies the maximum lifetimes of a request to the policies, and adds violated rules to `problems`. Returns the
 * policies that the request contains.
 */
export function applyTokenTtlPolicies(
  policies: readonly TokenTtlPolicy[],
  inputs: readonly TokenTtlPolicyInput[],
  { problems, now }: { problems: Problems; now: Date },
): TokenTtlPolicy[] {
  const changed = new Set<TokenTtlPolicy>();
  for (const [index, { tokenType, maxTtlMs }] of inputs.entries()) {
    const at = `tokenTtlPolicies[${index}]`;
    const policy = policies.find((known) => known.tokenType === tokenType);
    if (!policy) {
      const known = limitedTokenTypes.join(", ");
      problems.add(
        `${at}.tokenType`,
        `Token type ${quoted(tokenType)} is unknown; expected one of ${known}.`,
      );
    } else if (changed.has(policy)) {
      problems.add(`${at}.tokenType`, `Token type '${tokenType}' is listed twice; expected once.`);
    }
    if (maxTtlMs < MIN_MS || maxTtlMs > MAX_MS) {
      problems.add(
        `${at}.maxTtlMs`,
        `Max ttl ms ${maxTtlMs} is out of range; expected ${MIN_MS} to ${MAX_MS}.`,
      );
    }
    if (!policy) continue;
    policy.maxTtlMs = maxTtlMs;
    policy.updatedAt = now;
    changed.add(policy);
  }
  return [...changed];
}
