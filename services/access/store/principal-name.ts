import type { Database } from "@statehouse/postgres";

/** Names of users and teams, outside any transaction. */
export const principalNameReads = (database: Database) => ({
  async find(type: string, id: string): Promise<string | undefined> {
    const [row] = await database.query<{ name: string }>(
      // index: users_pkey, teams_pkey
      `select username as name from users where $1 = 'user' and id = $2
       union all
       select name from teams where $1 = 'team' and id = $2`,
      [type, id],
    );
    return row?.name;
  },
});
