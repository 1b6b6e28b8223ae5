import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";

/** The settings of the whole installation, which administrators change. The table has one row. */
export interface GeneralSettings {
  /** The value of `global-remote-state` for new workspaces. */
  defaultRemoteStateAccess: boolean;
  /** The longest time that a plan may take, for example `2h`. */
  planTimeout: string;
  /** The longest time that an apply may take. */
  applyTimeout: string;
}

const select = `select default_remote_state_access as "defaultRemoteStateAccess",
  plan_timeout as "planTimeout", apply_timeout as "applyTimeout" from general_settings`;

function onlyRow([row]: readonly GeneralSettings[]): GeneralSettings {
  if (!row) throw new Error("the row of general settings is missing");
  return row;
}

const reads = (database: Database) => ({
  get: async () => onlyRow(await database.query(select)),
});

/** Reads and writes of the settings inside a transaction. */
const rows = (em: EntityManager) => ({
  get: async () => onlyRow(await queryIn(em, select)),

  /**
   * Returns the settings and locks their row, so that no other transaction changes them until this transaction ends.
   */
  getForUpdate: async () => onlyRow(await queryIn(em, `${select} for update`)),

  async set({
    defaultRemoteStateAccess,
    planTimeout,
    applyTimeout,
  }: GeneralSettings): Promise<void> {
    await queryIn(
      em,
      `update general_settings
       set default_remote_state_access = $1, plan_timeout = $2, apply_timeout = $3`,
      [defaultRemoteStateAccess, planTimeout, applyTimeout],
    );
  },
});

export const generalSettings = { reads, rows };
