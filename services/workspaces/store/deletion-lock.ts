import type { Database } from "@statehouse/postgres";

/** Frees workspaces whose safe delete died; anybody may lock them anyway once its lease has ended. */
export const deletionLocks = (database: Database) => ({
  async endExpired(now: Date): Promise<void> {
    await database.query(
      // index: workspaces_deletion_lock
      `update workspaces set deletion_lock_epoch = null, deletion_lock_until = null
       where id in (
         select id from workspaces
         where deletion_lock_epoch is not null and deletion_lock_until <= $1
         for update skip locked)`,
      [now],
    );
  },
});
