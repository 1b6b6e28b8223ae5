import type { App } from "../app.ts";

/**
 * Stores how the organizations are billed, according to the workspaces service. Removes the billing of deleted
 * organizations.
 */
export async function refreshOrganizationBilling(
  app: App,
  organizationIds: readonly string[],
): Promise<void> {
  const billings = await app.workspaces.batchGetBilling(organizationIds);
  const existing = new Set(billings.map(({ organizationId }) => organizationId));
  await app.transaction(async (tx) => {
    for (const billing of billings) await tx.organizationBilling.set(billing);
    await tx.organizationBilling.remove(organizationIds.filter((id) => !existing.has(id)));
  });
}
