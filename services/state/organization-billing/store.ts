import { type EntityManager, queryIn } from "@statehouse/postgres";

/** How an organization is billed. The workspaces service owns this data; only higher revisions apply. */
export interface OrganizationBilling {
  organizationId: string;
  usageBased: boolean;
  revision: bigint;
}

/**
 * SQL: whether the organization is billed by usage. True if no row is stored, as for new organizations, because only
 * changes are published.
 */
export const usageBasedBilling = (organizationId: string): string =>
  // index: organization_billings_pkey
  `coalesce((select usage_based from organization_billings billing
     where billing.organization_id = ${organizationId}), true)`;

const rows = (em: EntityManager) => ({
  /** Stores the billing unless a newer revision is stored. */
  async set({ organizationId, usageBased, revision }: OrganizationBilling): Promise<void> {
    await queryIn(
      em,
      // index: organization_billings_pkey
      `insert into organization_billings as known (organization_id, usage_based, revision)
       values ($1, $2, $3)
       on conflict (organization_id) do update
         set usage_based = excluded.usage_based, revision = excluded.revision
         where known.revision < excluded.revision`,
      [organizationId, usageBased, revision],
    );
  },

  async remove(organizationIds: readonly string[]): Promise<void> {
    if (organizationIds.length === 0) return;
    // index: organization_billings_pkey
    await queryIn(em, "delete from organization_billings where organization_id = any($1)", [
      organizationIds,
    ]);
  },
});

export const organizationBilling = { rows };
