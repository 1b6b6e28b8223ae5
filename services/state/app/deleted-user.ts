import type { App } from "./app.ts";

/** Removes the addresses of those users from the audit trail that do not exist any more. */
export async function removeAddressesOfDeleted(
  app: App,
  userIds: readonly string[],
): Promise<void> {
  for (const id of userIds) {
    if (!(await app.access.userExists(id))) await app.audit.removeAddresses(id);
  }
}
