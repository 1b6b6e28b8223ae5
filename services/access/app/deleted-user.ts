import type { UserId } from "../domain/ids.ts";
import type { App } from "./app.ts";

/** Removes the addresses of those users from the audit trail that do not exist any more. */
export async function removeAddressesOfDeleted(
  app: App,
  userIds: readonly UserId[],
): Promise<void> {
  for (const id of userIds) {
    if ((await app.reads.users.find(id)) === undefined) await app.audit.removeAddresses(id);
  }
}
