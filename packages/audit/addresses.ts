import type { Database } from "@statehouse/postgres";
import { moveAttemptsOfUser } from "./attempts.ts";

/**
 * Removes a user's addresses from all records. Their salted digests remain, so the chain stays provable, but the
 * addresses cannot be found again without the salts.
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
