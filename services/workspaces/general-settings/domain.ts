/** The settings of the whole installation, which administrators change. The table has one row. */
export class GeneralSettings {
  declare id: true;
  /** The value of `global-remote-state` for new workspaces. */
  declare defaultRemoteStateAccess: boolean;
  /** The longest time that a plan may take, for example `2h`. */
  declare planTimeout: string;
  /** The longest time that an apply may take. */
  declare applyTimeout: string;
}
