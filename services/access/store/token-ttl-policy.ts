import { EntitySchema } from "@mikro-orm/core";
import { type PublishedEvents, published } from "@statehouse/events";
import type { EntityManager } from "@statehouse/postgres";
import { bigint, primaryKey, timestamptz } from "@statehouse/postgres/columns";
import { TokenTtlPolicyUpdatedSchema } from "@statehouse/proto/statehouse/access/v1/events";
import type { Organization } from "../domain/organization.ts";
import {
  defaultTokenTtlPolicy,
  limitedTokenTypes,
  TokenTtlPolicy,
  type TokenTtlPolicyEvent,
} from "../domain/token-ttl-policy.ts";

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

const rows = (em: EntityManager) => ({
  /** Those of all types; a type without a row has the default. */
  async list(organization: Organization): Promise<TokenTtlPolicy[]> {
    // index: token_ttl_policies_pkey
    const stored = await em.find(entity, { organizationId: organization.id });
    const byType = new Map(stored.map((policy) => [policy.tokenType, policy]));
    return limitedTokenTypes.map(
      (type) => byType.get(type) ?? defaultTokenTtlPolicy(organization, type),
    );
  },

  async save(policy: TokenTtlPolicy): Promise<void> {
    em.persist(policy);
    await em.flush();
  },
});

export const tokenTtlPolicies = {
  entity,
  rows,
  deletedWithOrganization: "token_ttl_policies",
  published: {
    tokenTtlPolicyUpdated: ({ tokenTtlPolicy: { organizationId, tokenType, maxTtlMs } }) =>
      published(TokenTtlPolicyUpdatedSchema, organizationId, {
        organizationId,
        tokenType,
        maxTtlMs,
      }),
  } satisfies PublishedEvents<TokenTtlPolicyEvent>,
};
