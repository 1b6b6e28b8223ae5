import { lastOwner } from "../domain/errors.ts";
import type { Team } from "../domain/team.ts";
import type { Tx } from "../store/transaction.ts";

/** Throws the conflict `last_owner` if no user who accepted remains in the team of owners. */
export async function refuseNoOwner(tx: Tx, { id, owners }: Team): Promise<void> {
  if (owners && (await tx.teamMembers.countActive(id)) === 0) throw lastOwner();
}
