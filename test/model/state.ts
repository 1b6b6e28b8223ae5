/** What the specification says of one workspace's state, and nothing of how it is kept. */
export type Status =
  | "pending"
  | "finalized"
  | "discarded"
  | "backing_data_soft_deleted"
  | "backing_data_permanently_deleted";

export interface Version {
  /** Unknown until an answer or a list tells. */
  id: string | null;
  serial: number;
  lineage: string;
  /** Name of the announced bytes; stands for their md5. */
  content: string;
  /** Of the lock under which it was made. */
  epoch: number;
  status: Status;
  intermediate: boolean;
  /** Whether the announced bytes are there. */
  raw: boolean;
  /** Name of the JSON form, once it is there. */
  json: string | null;
  /** The version that was rolled back to. */
  copyOf: string | null;
  /** The version whose bytes it shares, through however many copies. */
  root: string | null;
  /** Its upload URLs have not ended. */
  open: boolean;
  /** Its soft deletion is so old that it is deleted for good, some time now. */
  due: boolean;
  /** Older than the policy keeps. */
  old: boolean;
}

export interface State {
  lock: { holder: 0 | 1; epoch: number } | null;
  lastEpoch: number;
  /** Nothing is written under a lock of this epoch or an earlier one. */
  sealed: number;
  /** Retention lets go of what is old. */
  letsGo: boolean;
  /** In the order of creation. */
  versions: readonly Version[];
}

export const empty: State = { lock: null, lastEpoch: 0, sealed: 0, letsGo: false, versions: [] };

/** The state with another version at this place. */
export const withVersion = (state: State, index: number, change: Partial<Version>): State => ({
  ...state,
  versions: state.versions.map((version, at) =>
    at === index ? { ...version, ...change } : version,
  ),
});

/** Where a version is by its id; -1 where there is none. */
export const indexOf = (state: State, id: string): number =>
  state.versions.findIndex((version) => version.id === id);

/** The version at a place that a rule has found before. */
export function versionAt(state: State, index: number): Version {
  const version = state.versions[index];
  if (!version) throw new Error(`no version at ${index}`);
  return version;
}

/** The newest finalized version that is no snapshot; -1 without one. */
export const currentOf = ({ versions }: State): number =>
  versions.findLastIndex(({ status, intermediate }) => status === "finalized" && !intermediate);

export const isDeleted = ({ status }: Version): boolean =>
  status === "backing_data_soft_deleted" || status === "backing_data_permanently_deleted";

/** Nothing is kept of what came before its state. */
const discarded = { status: "discarded", json: null } as const satisfies Partial<Version>;

/** Discards what is pending, up to this epoch. */
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

/** What may have changed by itself meanwhile, one change each: what waited too long ends. */
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

/** Old, older than the current version, and no rollback made later has the same bytes. */
function isLetGo(state: State, version: Version, index: number): boolean {
  if (!state.letsGo || !version.old || index >= currentOf(state)) return false;
  if (version.status !== "finalized" && version.status !== "backing_data_soft_deleted")
    return false;
  const root = version.root ?? version.id;
  return !state.versions.slice(index + 1).some((later) => later.raw && later.root === root);
}
