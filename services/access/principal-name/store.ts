import type { Database } from "@statehouse/postgres";

/** Selects the name of the user (if $1 is `user`) or team (if $1 is `team`) with the id $2. */
export const principalName = `-- index: users_pkey, teams_pkey
  select username as name from users where $1 = 'user' and id = $2
  union all
  select name from teams where $1 = 'team' and id = $2`;

const reads = (database: Database) => ({
  async find(type: string, id: string): Promise<string | undefined> {
    const [row] = await database.query<{ name: string }>(principalName, [type, id]);
    return row?.name;
  },
});

export const principalNames = { reads };
