import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import { type EntityManager, recordsOf } from "@statehouse/postgres";
import { bigint, primaryKey, timestamptz } from "@statehouse/postgres/columns";
import { TokenTtlPolicyUpdatedSchema } from "@statehouse/proto/statehouse/access/v1/events";
import { organizationNotFound } from "../errors-domain.ts";
import type { Organization } from "../organization/domain.ts";
import { versionOf } from "../organization-version-store.ts";
import {
  DEFAULT_MAX_TTL_MS,
  defaultTokenTtlPolicy,
  limitedTokenTypes,
  TokenTtlPolicy,
} from "./domain.ts";

const entity = new EntitySchema({
  class: TokenTtlPolicy,
  tableName: "token_ttl_policies",
  properties: {
    organizationId: primaryKey,
    tokenType: primaryKey,
    maxTtlMs: bigint,
    createdAt: timestamptz,
    updatedAt: timestamptz,
  },
});

/**
 * SQL expression for the maximum lifetime of tokens of a type in the organization of row `o`, in ms. A year of a policy
 * has 365 days; leap days are added, so that a token of two calendar years satisfies a maximum of two years.
 */
const longestLifetime = (tokenType: string): string => `(
    select m.ms + (m.ms / 31536000000 + 3) / 4 * 86400000
    from (select coalesce((
      select p.max_ttl_ms from token_ttl_policies p
      where p.organization_id = o.id and p.token_type = ${tokenType}
    ), ${DEFAULT_MAX_TTL_MS}) as ms) m)`;

/**
 * SQL condition: at the time `at`, the token of row `t` is older than the organization of row `o` allows for tokens of
 * this type. A `case` expression ensures that a policy is looked up only if the organization limits lifetimes;
 * PostgreSQL may evaluate the conditions of an `and` in any order.
 */
// index: token_ttl_policies_pkey
export const outlivesPolicy = (tokenType: string, at: string): string =>
  `case when o.max_ttl_enabled
    then extract(epoch from ${at} - t.created_at) * 1000 > ${longestLifetime(tokenType)}
    else false end`;

const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, organizationNotFound);

  return {
    ...records,

    /** Returns the policies of all types of tokens; a type without a row has the default policy. */
    async ofOrganization(organization: Organization): Promise<TokenTtlPolicy[]> {
      // index: token_ttl_policies_pkey
      const stored = await records.list({ organizationId: organization.id });
      const byType = new Map(stored.map((policy) => [policy.tokenType, policy]));
      return limitedTokenTypes.map(
        (type) => byType.get(type) ?? defaultTokenTtlPolicy(organization, type),
      );
    },
  };
};

type Policy = Pick<TokenTtlPolicy, "organizationId" | "tokenType" | "maxTtlMs">;

/** The event's revision is the version of the organization. */
export const tokenTtlPolicyUpdated = (policy: Policy, revision: bigint) => {
  const { organizationId, tokenType, maxTtlMs } = policy;
  const fields = { organizationId, tokenType, maxTtlMs, revision };
  return published(TokenTtlPolicyUpdatedSchema, organizationId, fields, policy);
};

export const tokenTtlPolicies = {
  entity,
  rows,
  deletedWithOrganization: "token_ttl_policies",
  listed: listed({
    schemas: [TokenTtlPolicyUpdatedSchema],
    // index: token_ttl_policies_pkey, organizations_pkey
    from: "token_ttl_policies t",
    key: ["t.organization_id", "t.token_type"],
    columns: `t.organization_id as "organizationId", t.token_type as "tokenType",
      t.max_ttl_ms as "maxTtlMs"`,
    revision: versionOf("t.organization_id"),
    events: (row: Omit<Policy, "maxTtlMs"> & { maxTtlMs: number; revision: bigint }) => [
      tokenTtlPolicyUpdated({ ...row, maxTtlMs: BigInt(row.maxTtlMs) }, row.revision),
    ],
  }),
};
