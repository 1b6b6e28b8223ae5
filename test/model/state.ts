/** The statuses that a state version can have in the model. The model describes one workspace, but not its storage. */
export type Status =
  | "pending"
  | "finalized"
  | "discarded"
  | "backing_data_soft_deleted"
  | "backing_data_permanently_deleted";

export interface Version {
  /** Null until a response or a list contains the id. */
  id: string | null;
  serial: number;
  lineage: string;
  /**
   * The name that the model gives to the bytes that the create request announced. The model compares names where the
   * service compares md5 values.
   */
  content: string;
  /** Epoch of the lock under which the version was created. */
  epoch: number;
  status: Status;
  intermediate: boolean;
  /** Whether the announced bytes are stored. */
  raw: boolean;
  /** The model's name for the JSON form; null until it is stored. */
  json: string | null;
  /** The version from which a rollback copied this one. */
  copyOf: string | null;
  /** The original version whose bytes this copy shares. A copy of a copy has the same original version. */
  root: string | null;
  /** Whether its upload URLs are still valid. */
  open: boolean;
  /**
   * Whether the restoration period of its soft deletion has ended. The version can then be deleted permanently at any
   * time.
   */
  due: boolean;
  /** Whether it is older than the retention policy allows. */
  old: boolean;
}

export interface State {
  lock: { holder: 0 | 1; epoch: number } | null;
  lastEpoch: number;
  /** Writes under this lock epoch or an earlier one are refused. */
  sealed: number;
  /** Whether a retention policy deletes old data. */
  deletesOld: boolean;
  /** The versions in the order of their creation. */
  versions: readonly Version[];
}

export const empty: State = {
  lock: null,
  lastEpoch: 0,
  sealed: 0,
  deletesOld: false,
  versions: [],
};

/** Returns the state with changes to the version at this position. */
export const withVersion = (state: State, index: number, change: Partial<Version>): State => ({
  ...state,
  versions: state.versions.map((version, at) =>
    at === index ? { ...version, ...change } : version,
  ),
});

/** Returns the position of the version with this id; -1 if the id is unknown. */
export const indexOf = (state: State, id: string): number =>
  state.versions.findIndex((version) => version.id === id);

/** Returns the version at a position that must exist. */
export function versionAt(state: State, index: number): Version {
  const version = state.versions[index];
  if (!version) throw new Error(`no version at position ${index}`);
  return version;
}

/** Returns the position of the newest finalized version that is not a snapshot; -1 if there is none. */
export const currentOf = ({ versions }: State): number =>
  versions.findLastIndex(({ status, intermediate }) => status === "finalized" && !intermediate);

export const isDeleted = ({ status }: Version): boolean =>
  status === "backing_data_soft_deleted" || status === "backing_data_permanently_deleted";

/** The changes that discard a version. If its JSON form arrived before its raw state, the JSON form is removed. */
const discarded = { status: "discarded", json: null } as const satisfies Partial<Version>;

/** Discards pending versions up to this epoch. */
export const discardPending = (state: State, epoch: number): State => ({
  ...state,
  versions: state.versions.map((version) =>
    version.status === "pending" && version.epoch <= epoch ? { ...version, ...discarded } : version,
  ),
});

export const deletedPermanently = {
  status: "backing_data_permanently_deleted",
  raw: false,
  json: null,
  due: false,
} as const satisfies Partial<Version>;

/**
 * Returns the states that can follow without a command, with one change each. For example, an expired pending version
 * is discarded.
 */
export const byItself = (state: State): State[] =>
  state.versions.flatMap((version, index) => {
    if (version.status === "pending" && !version.open) {
      return [withVersion(state, index, discarded)];
    }
    const expired = version.status === "backing_data_soft_deleted" && version.due;
    return expired || isDeletedByRetention(state, version, index)
      ? [withVersion(state, index, deletedPermanently)]
      : [];
  });

/**
 * Returns whether retention may delete the version's data: a policy deletes old data, the version has data, is old, and
 * precedes the current version, and no later rollback shares its bytes.
 */
function isDeletedByRetention(state: State, version: Version, index: number): boolean {
  if (!state.deletesOld || !version.old || index >= currentOf(state)) return false;
  if (version.status !== "finalized" && version.status !== "backing_data_soft_deleted")
    return false;
  const root = version.root ?? version.id;
  // A rollback names the version that it copies, so no version shares the bytes of one whose id is unknown.
  if (root === null) return true;
  return !state.versions.slice(index + 1).some((later) => later.raw && later.root === root);
}
