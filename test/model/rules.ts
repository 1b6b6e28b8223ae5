import { answered, type Client, type Moment, moment, type Progress } from "./moment.ts";
import {
  currentOf,
  deletedPermanently,
  discardPending,
  indexOf,
  type State,
  type Status,
  type Version,
  versionAt,
  withVersion,
} from "./state.ts";
import { type Kind, upload } from "./upload.ts";

/** Takes the lock; specification, "Workspace lock state". */
export const lock = (by: Client): Moment =>
  moment("lock", (state) => {
    if (state.lock) return answered(state, 409);
    const epoch = state.lastEpoch + 1;
    return answered({ ...state, lastEpoch: epoch, lock: { holder: by, epoch } }, 200);
  });

/**
 * Seals the epoch in the state service, and then releases the lock if its epoch is still the same. Unless `forced`,
 * refuses with 503 while a version of this epoch or an earlier one waits for its upload.
 */
const release = (epoch: number, forced: boolean): Moment =>
  moment(`seal ${epoch}`, (state) => {
    const waits = state.versions.some(
      (version) => version.status === "pending" && version.open && version.epoch <= epoch,
    );
    if (waits && !forced) return answered(state, 503);
    const discarded = discardPending(state, epoch);
    const sealed = promote({ ...discarded, sealed: Math.max(discarded.sealed, epoch) }, epoch);
    return {
      state: sealed,
      next: moment(`release ${epoch}`, (now) =>
        now.lock?.epoch === epoch ? answered({ ...now, lock: null }, 200) : answered(now, 409),
      ),
    };
  });

/** Makes the newest finalized snapshot up to this epoch current, unless a newer version is current. */
function promote(state: State, epoch: number): State {
  const newest = state.versions.findLastIndex(
    (version) => version.status === "finalized" && version.intermediate && version.epoch <= epoch,
  );
  return newest > currentOf(state) ? withVersion(state, newest, { intermediate: false }) : state;
}

export const unlock = (by: Client): Moment =>
  moment("unlock", (state) =>
    state.lock?.holder === by
      ? { state, next: release(state.lock.epoch, false) }
      : answered(state, 409),
  );

export const forceUnlock = (): Moment =>
  moment("force-unlock", (state) =>
    state.lock ? { state, next: release(state.lock.epoch, true) } : answered(state, 409),
  );

/** The values of a create request. */
export interface Announced {
  serial: number;
  lineage: string;
  content: string;
  force: boolean;
  inline: boolean;
  /** The model's name for the JSON form that the request contains. */
  json: string | undefined;
  /**
   * Whether the version is a snapshot. In the hosted edition, a version whose state is uploaded by URL is a snapshot
   * until the workspace is unlocked.
   */
  snapshot: boolean;
}

const newest = (versions: readonly Version[]): Version | undefined => versions.at(-1);

/** Returns whether a version with the announced serial and lineage may follow the stored versions. */
function mayFollow({ versions }: State, announced: Announced, epoch: number): boolean {
  const kept = versions.filter(({ status }) => status !== "discarded");
  const last = newest(kept);
  if (announced.force || !last) return true;
  const { serial, lineage } = announced;
  if (lineage !== "" && last.lineage !== "" && lineage !== last.lineage) return false;
  if (kept.some((version) => version.epoch === epoch && version.serial === serial)) return false;
  return serial > last.serial || (last.epoch !== epoch && lineage === last.lineage);
}

export const create = (by: Client, announced: Announced): Moment =>
  moment("create", (state) => ({ state, next: write(by, announced, state.lock) }));

const write = (by: Client, announced: Announced, held: State["lock"]): Moment =>
  moment(`write ${JSON.stringify(held)}`, (state) => {
    if (!held) return answered(state, 412);
    if (held.holder !== by || held.epoch <= state.sealed) return answered(state, 409);
    const { serial, lineage, content, inline } = announced;
    const repeated = state.versions.findIndex(
      (version) =>
        version.epoch === held.epoch && version.serial === serial && version.content === content,
    );
    if (repeated >= 0) {
      const { status, open, intermediate } = versionAt(state, repeated);
      const usable = status === "finalized" || (status === "pending" && open);
      if (!usable || repeated !== state.versions.length - 1) return answered(state, 409);
      const snapshot = intermediate && !(inline && status === "pending");
      return {
        state: withVersion(state, repeated, { intermediate: snapshot }),
        next: put(announced, repeated),
      };
    }
    if (!mayFollow(state, announced, held.epoch)) return answered(state, 409);
    const made: Version = {
      ...{ id: null, serial, lineage, content, epoch: held.epoch, status: "pending" },
      ...{ intermediate: announced.snapshot, raw: false, json: null, copyOf: null, root: null },
      ...{ open: true, due: false, old: false },
    };
    const superseded = discardPending(state, Number.POSITIVE_INFINITY);
    const versions = [...superseded.versions, made];
    return { state: { ...superseded, versions }, next: put(announced, versions.length - 1) };
  });

/** Stores the inline bytes of a create request; they follow the same rules as uploads. */
const put = (announced: Announced, index: number): Moment =>
  moment(`look ${index}`, (state) => {
    const isReceived = announced.inline && versionAt(state, index).status === "pending";
    const end = (now: State, status: number): Progress =>
      status === 200 ? answered(now, 201, { version: index }) : answered(now, 409);
    const raw = (now: State, status: number): Progress =>
      isReceived && status === 200
        ? { state: now, next: upload("", index, "raw", announced.content, end) }
        : end(now, status);
    return announced.json === undefined
      ? raw(state, 200)
      : { state, next: upload(String(isReceived), index, "json", announced.json, raw) };
  });

/** Uploads bytes to the upload URL of the version with this id. */
export const putTo = (id: string, kind: Kind, content: string): Moment =>
  moment("put", (state) => ({
    state,
    next: upload("", indexOf(state, id), kind, content, (now, status) => answered(now, status)),
  }));

export const rollBack = (by: Client, id: string): Moment =>
  moment("roll back", (state) =>
    indexOf(state, id) < 0
      ? answered(state, 404)
      : { state, next: moment("ask", (now) => ({ state: now, next: copy(by, id, now.lock) })) },
  );

const copy = (by: Client, id: string, held: State["lock"]): Moment =>
  moment(`copy ${JSON.stringify(held)}`, (state) => {
    if (held?.holder !== by || held.epoch <= state.sealed) return answered(state, 409);
    const { versions } = state;
    const last = newest(versions);
    if (last?.copyOf === id && last.epoch === held.epoch && last.status === "finalized") {
      return answered(state, 201, { version: versions.length - 1 });
    }
    const source = versionAt(state, indexOf(state, id));
    if (source.status !== "finalized") return answered(state, 409);
    const before = newest(versions.filter(({ status }) => status !== "discarded"));
    const ofLock = versions.filter(({ epoch }) => epoch === held.epoch);
    const serial = Math.max(before?.serial ?? 0, ...ofLock.map((version) => version.serial)) + 1;
    const made: Version = {
      ...source,
      ...{ id: null, serial, epoch: held.epoch, copyOf: id, intermediate: false, open: false },
      ...{ root: source.root ?? id, old: false },
    };
    const superseded = discardPending(state, Number.POSITIVE_INFINITY).versions;
    return answered({ ...state, versions: [...superseded, made] }, 201, {
      version: versions.length,
    });
  });

const transitions = {
  softDelete: ["finalized", { status: "backing_data_soft_deleted" }],
  restore: ["backing_data_soft_deleted", { status: "finalized", due: false }],
  permanentlyDelete: ["backing_data_soft_deleted", deletedPermanently],
} as const satisfies Record<string, readonly [Status, Partial<Version>]>;

export type Action = keyof typeof transitions;

/** Changes backing data; specification, "State version status". */
export const act = (action: Action, id: string): Moment =>
  moment(action, (state) => {
    const index = indexOf(state, id);
    if (index < 0) return answered(state, 404);
    const [from, change] = transitions[action];
    if (versionAt(state, index).status !== from) return answered(state, 400);
    if (action === "softDelete" && index === currentOf(state)) return answered(state, 400);
    return answered(withVersion(state, index, change), 200, { version: index });
  });

export const download = (id: string, kind: Kind): Moment =>
  moment("download", (state) => {
    const version = state.versions[indexOf(state, id)];
    const there = version?.status === "finalized" && (kind === "raw" || version.json !== null);
    if (!version || !there) return answered(state, 404);
    const bytes = kind === "raw" ? version.content : (version.json ?? "");
    return answered(state, 200, { bytes });
  });

/** A request that is refused or interrupted; it changes nothing. */
export const refused = (status: number): Moment =>
  moment(`refused ${status}`, (state) => answered(state, status));

/** Sets a retention policy: one that deletes old data, or one that keeps everything. */
export const retain = (deletesOld: boolean): Moment =>
  moment("retain", (state) => answered({ ...state, deletesOld }, 200));

/** How much time passes: the upload window of pending versions, the restoration period, or years. */
export type Time = "window" | "days" | "years";

/** Advances the time: marks the versions that become expired, due or old. */
export const pass = (time: Time): Moment =>
  moment(time, (state) => {
    const versions = state.versions.map((version) => ({
      ...version,
      open: version.open && !(time === "window" && version.status === "pending"),
      due: version.due || (time === "days" && version.status === "backing_data_soft_deleted"),
      old: version.old || time === "years",
    }));
    return answered({ ...state, versions }, 200);
  });
