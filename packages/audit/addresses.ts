import type { Database } from "@statehouse/postgres";
import { moveAttemptsOfUser } from "./attempts.ts";

/**
 * Removes the client addresses of a user's requests from all records and attempts. The salted digests of the addresses
 * remain, so that the chain can still be verified. The salts are removed too; without them, the addresses cannot be
 * derived from the digests.
 */
export async function removeAddresses(
  database: Pick<Database, "query">,
  userId: string,
): Promise<void> {
  await database.query(
    `update audit_records set address = null, address_salt = null
     where actor_type = 'user' and actor_id = $1 and address_salt is not null`,
    [userId],
  );
  await moveAttemptsOfUser(database, userId);
}
