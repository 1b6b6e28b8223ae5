/** The state of one workspace as the specification defines it, independent of its storage. */
export type Status =
  | "pending"
  | "finalized"
  | "discarded"
  | "backing_data_soft_deleted"
  | "backing_data_permanently_deleted";

export interface Version {
  /** Unknown until a response or a list contains the id. */
  id: string | null;
  serial: number;
  lineage: string;
  /** The name of the announced bytes; represents their md5. */
  content: string;
  /** Epoch of the lock under which it was created. */
  epoch: number;
  status: Status;
  intermediate: boolean;
  /** Whether the announced bytes are stored. */
  raw: boolean;
  /** The name of the JSON form once it is stored. */
  json: string | null;
  /** The source version of a rollback. */
  copyOf: string | null;
  /** The version whose bytes it shares, through any number of copies. */
  root: string | null;
  /** Whether its upload URLs are still valid. */
  open: boolean;
  /** Whether its soft deletion is so old that the permanent deletion can happen at any time. */
  due: boolean;
  /** Whether it is older than the retention policy allows. */
  old: boolean;
}

export interface State {
  lock: { holder: 0 | 1; epoch: number } | null;
  lastEpoch: number;
  /** Writes under a lock with this epoch or an earlier one are refused. */
  sealed: number;
  /** Whether a policy deletes old data. */
  letsGo: boolean;
  /** In the order of creation. */
  versions: readonly Version[];
}

export const empty: State = { lock: null, lastEpoch: 0, sealed: 0, letsGo: false, versions: [] };

/** The state with another version at this position. */
export const withVersion = (state: State, index: number, change: Partial<Version>): State => ({
  ...state,
  versions: state.versions.map((version, at) =>
    at === index ? { ...version, ...change } : version,
  ),
});

/** The position of a version by its id; -1 if it is unknown. */
export const indexOf = (state: State, id: string): number =>
  state.versions.findIndex((version) => version.id === id);

/** The version at a position that a rule has found before. */
export function versionAt(state: State, index: number): Version {
  const version = state.versions[index];
  if (!version) throw new Error(`no version at position ${index}`);
  return version;
}

/** The position of the newest finalized version that is not a snapshot; -1 if there is none. */
export const currentOf = ({ versions }: State): number =>
  versions.findLastIndex(({ status, intermediate }) => status === "finalized" && !intermediate);

export const isDeleted = ({ status }: Version): boolean =>
  status === "backing_data_soft_deleted" || status === "backing_data_permanently_deleted";

/** Removes content that arrived before the state of a discarded version. */
const discarded = { status: "discarded", json: null } as const satisfies Partial<Version>;

/** Discards pending versions up to this epoch. */
export const discardPending = (state: State, epoch: number): State => ({
  ...state,
  versions: state.versions.map((version) =>
    version.status === "pending" && version.epoch <= epoch ? { ...version, ...discarded } : version,
  ),
});

export const deletedForGood = {
  status: "backing_data_permanently_deleted",
  raw: false,
  json: null,
  due: false,
} as const satisfies Partial<Version>;

/** Changes that can happen without a command, one at a time: expired pending versions are discarded. */
export const byItself = (state: State): State[] =>
  state.versions.flatMap((version, index) => {
    if (version.status === "pending" && !version.open) {
      return [withVersion(state, index, discarded)];
    }
    const expired = version.status === "backing_data_soft_deleted" && version.due;
    return expired || isLetGo(state, version, index)
      ? [withVersion(state, index, deletedForGood)]
      : [];
  });

/** Whether it is old, older than the current version, and no later rollback shares its bytes. */
function isLetGo(state: State, version: Version, index: number): boolean {
  if (!state.letsGo || !version.old || index >= currentOf(state)) return false;
  if (version.status !== "finalized" && version.status !== "backing_data_soft_deleted")
    return false;
  const root = version.root ?? version.id;
  return !state.versions.slice(index + 1).some((later) => later.raw && later.root === root);
}
