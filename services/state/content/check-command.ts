import { setTimeout as pause } from "node:timers/promises";
import { forEachConcurrently } from "@statehouse/runtime";
import {
  type BlobRetention,
  type DatabaseInterruption,
  keptUntil,
} from "../blob-deletion/domain.ts";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import { isDeletedPermanently, isListEntry } from "../object/deleted-permanently-store.ts";
import { attemptStartedAt } from "../object/key-domain.ts";
import { digestsOf, withStoreRetry } from "../object/reading-store.ts";
import type { BlobStore, StoredBlob } from "../object/store.ts";
import type { ContentReads, ContentRow } from "./store.ts";

/** The ways in which rows and bytes can contradict each other, with the texts that operators read. */
export const contentProblems = {
  noContents: "the state version must have a state, but its row does not refer to one",
  noRow: "the blob of the state version has no row",
  rowDiffers: "the rows of the state version and of its blob differ",
  missing: "the bytes are missing in the store",
  size: "the number of bytes in the store differs from the row",
  content: "the md5 or sha256 of the bytes in the store differs from the row",
  unreadable: "the bytes cannot be read",
  miscounted: "the reference count of the blob is wrong",
  ownerless: "the bytes have no row and should have been deleted by the sweeper",
  /** Not a fault: the row exists again because the database was restored from an earlier backup. */
  deletedPermanently:
    "an organization owner deleted these bytes permanently after the backup of the database",
} as const;

export type ContentProblem = keyof typeof contentProblems;

export interface FoundProblem {
  problem: ContentProblem;
  /** Key of the bytes; empty if the row has no key. */
  key: string;
  workspaceId?: WorkspaceId;
  versionId?: StateVersionId;
  detail?: string;
}

/** Size and digests of the bytes under a key, or the reason why they cannot be compared. */
type BlobReading = StoredBlob | ContentProblem;
type PendingReading = Promise<BlobReading>;

export interface ContentCheck extends BlobRetention {
  rows: ContentReads;
  store: BlobStore;
  /** Whether every byte is read. If false, only sizes are compared. */
  readContents: boolean;
  /** Delay before an apparent problem is checked again, in ms. */
  settlingMs: number;
  /** Periods in which rows of stored bytes may have been lost. */
  interruptions: readonly DatabaseInterruption[];
  now(): Date;
  onProgress(versions: number): void;
  signal: AbortSignal;
}

export interface CheckedContents {
  versions: number;
  contents: number;
  bytes: number;
  problems: FoundProblem[];
  /** Missing bytes that an organization owner deleted permanently, according to the list in the store. */
  deletedPermanently: FoundProblem[];
  /**
   * Number of keys that have no row and are not a problem, because they belong to uploads in progress or are within the
   * deletion delay.
   */
  young: number;
  foreign: number;
}

const BATCH = 500;
const AT_ONCE = 4;

/**
 * Compares all rows with the store, in both directions. Checks each apparent problem a second time, because a running
 * service changes versions and bytes during the comparison. Throws if the store or the database does not respond.
 */
export async function checkContents(check: ContentCheck): Promise<CheckedContents> {
  const { rows, signal } = check;
  const checked: CheckedContents = {
    versions: 0,
    contents: 0,
    bytes: 0,
    problems: [],
    deletedPermanently: [],
    young: 0,
    foreign: 0,
  };
  const suspects: FoundProblem[] = [];
  /** Results for blobs that several versions share, so that each blob is read once. */
  const shared = new Map<string, PendingReading>();
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { contents, versions, last } = await rows.listAfter(after, BATCH);
    for (const found of await problemsOf(check, contents, shared)) suspects.push(found);
    checked.versions += versions;
    checked.contents += contents.length;
    checked.bytes += contents.reduce((sum, { size }) => sum + (size ?? 0), 0);
    check.onProgress(versions);
    after = last;
  }
  suspects.push(...(await countProblems(rows)));
  suspects.push(...(await ownerlessKeys(check, checked)));
  if (suspects.length > 0) {
    await pause(check.settlingMs, undefined, { signal });
    for (const found of await confirmed(check, suspects)) {
      const isFault = found.problem !== "deletedPermanently";
      checked[isFault ? "problems" : "deletedPermanently"].push(found);
    }
  }
  return checked;
}

async function problemsOf(
  check: ContentCheck,
  contents: readonly ContentRow[],
  shared: Map<string, PendingReading>,
): Promise<FoundProblem[]> {
  const problems: FoundProblem[] = [];
  await forEachConcurrently(AT_ONCE, contents, async (row) => {
    check.signal.throwIfAborted();
    const { versionId, workspaceId, key } = row;
    const found = await problemOf(check, row, shared);
    if (found) problems.push({ ...found, versionId, workspaceId, key });
  });
  return problems;
}

async function problemOf(
  check: ContentCheck,
  row: ContentRow,
  shared: Map<string, PendingReading>,
): Promise<Pick<FoundProblem, "problem" | "detail"> | undefined> {
  const { blob, key, size, sha256, md5 } = row;
  if (!blob) return { problem: "noRow" };
  if (blob.size !== size || blob.sha256 !== sha256) return { problem: "rowDiffers" };
  const isShared = blob.references > 1;
  const reading = (isShared ? shared.get(key) : undefined) ?? readBlob(check, key);
  if (isShared) shared.set(key, reading);
  const found = await reading;
  if (typeof found === "string") return { problem: found };
  if (found.size !== size) {
    return { problem: "size", detail: `${found.size} bytes instead of ${size}` };
  }
  if (!check.readContents) return undefined;
  if (found.sha256 !== sha256) return { problem: "content", detail: "sha256" };
  if (md5 !== null && found.md5 !== md5) return { problem: "content", detail: "md5" };
  return undefined;
}

async function readBlob(
  { store, readContents, signal }: ContentCheck,
  key: string,
): Promise<BlobReading> {
  const size = await withStoreRetry(signal, () => store.sizeOf(key));
  if (size === undefined) return missing(store, key);
  if (!readContents) return { size, sha256: "", md5: "" };
  try {
    return await withStoreRetry(signal, () => digestsOf(store, key, signal));
  } catch {
    signal.throwIfAborted();
    // Throws if the whole store is unavailable. Otherwise only these bytes are unreadable.
    await store.ready();
    const isThere = await store.sizeOf(key);
    return isThere === undefined ? missing(store, key) : "unreadable";
  }
}

const missing = async (store: BlobStore, key: string) =>
  (await isDeletedPermanently(store, key)) ? "deletedPermanently" : "missing";

async function countProblems(rows: ContentReads): Promise<FoundProblem[]> {
  const without = await rows.listMissing();
  const miscounted = await rows.listMiscounted();
  return [
    ...without.map((version) => ({ problem: "noContents" as const, key: "", ...version })),
    ...miscounted.map(({ key, counted, found }) => ({
      problem: "miscounted" as const,
      key,
      detail: `the row counts ${counted} references, the check found ${found}`,
    })),
  ];
}

/**
 * Finds keys in the store that have no row. Recent keys are counted but not reported, because they may belong to an
 * upload in progress, or are within the deletion delay.
 */
async function ownerlessKeys(
  { rows, store, signal, now, interruptions, ...retention }: ContentCheck,
  checked: CheckedContents,
): Promise<FoundProblem[]> {
  // The sweeper deletes an ownerless key at most one grace period after the key becomes due for deletion. Only keys
  // that are still there after that are a problem.
  const before = now().getTime() - retention.sweepGraceMs;
  const ownerless: FoundProblem[] = [];
  let batch: string[] = [];
  const compare = async () => {
    const known = new Set(await rows.listKnownKeys(batch));
    for (const key of batch.filter((one) => !known.has(one))) {
      const startedAt = attemptStartedAt(key);
      if (isListEntry(key)) continue;
      if (!startedAt) checked.foreign++;
      else if (keptUntil(startedAt, interruptions, retention).getTime() >= before) checked.young++;
      else ownerless.push({ problem: "ownerless", key });
    }
    batch = [];
  };
  for await (const { key } of store.list()) {
    signal.throwIfAborted();
    if (batch.push(key) === BATCH) await compare();
  }
  await compare();
  return ownerless;
}

const identityOf = ({ problem, key, versionId }: FoundProblem): string =>
  [problem, key, versionId].join();

/** Checks the suspected contents again and returns those that are still wrong. */
async function confirmed(
  check: ContentCheck,
  suspects: readonly FoundProblem[],
): Promise<FoundProblem[]> {
  const { rows, store, signal } = check;
  const versionIds = suspects.map(({ versionId }) => versionId).filter((id) => id !== undefined);
  const contents: ContentRow[] = [];
  for (let from = 0; from < versionIds.length; from += BATCH) {
    contents.push(...(await rows.listOf(versionIds.slice(from, from + BATCH))));
  }
  const suspected = new Set(suspects.map(({ versionId, key }) => `${versionId} ${key}`));
  const again = contents.filter(({ versionId, key }) => suspected.has(`${versionId} ${key}`));
  const problems = await problemsOf(check, again, new Map());
  const counts = suspects.some(
    ({ problem }) => problem === "noContents" || problem === "miscounted",
  )
    ? await countProblems(rows)
    : [];
  const before = new Set(suspects.map(identityOf));
  problems.push(...counts.filter((found) => before.has(identityOf(found))));
  for (const suspect of suspects.filter(({ problem }) => problem === "ownerless")) {
    const known = await rows.listKnownKeys([suspect.key]);
    if (known.length > 0) continue;
    if ((await withStoreRetry(signal, () => store.sizeOf(suspect.key))) !== undefined) {
      problems.push(suspect);
    }
  }
  return problems;
}
