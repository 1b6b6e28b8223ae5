import type { App } from "../app.ts";
import { deleteContents } from "../backing-data/app.ts";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { stateVersionsCollected } from "../state-version/events-store.ts";
import { touch, type WorkspaceState } from "../workspace-state/domain.ts";
import {
  dueOf,
  FREE_TIER_STATES,
  isCurrentAnswer,
  type RetentionAnswer,
  type RetentionDue,
  type RetentionRule,
  reasonToRetain,
  retainedReasons,
} from "./domain.ts";
import type { CollectibleVersion, RetentionCandidate, RetentionSearch } from "./store.ts";

/** Number of candidates that are read at a time, over all workspaces of a scan page. */
const CANDIDATES = 4000;
/** Number of versions in one transaction; small, so that locks are held briefly. */
const BATCH = 200;
/** After this many consecutive outdated responses of the workspaces service, the collection fails. */
const ATTEMPTS = 5;

/** A version whose contents were deleted. */
export interface Collected {
  id: StateVersionId;
  workspaceId: WorkspaceId;
  rule: RetentionRule;
  createdAt: Date;
  /** Size of the raw state. */
  bytes: number;
}

/**
 * `busy`: another transaction had locked the workspace; the next scan decides again.
 * `notDue`: under the current retention, the version is no longer due.
 */
export const keptReasons = [...retainedReasons, "busy", "notDue"] as const;
export type KeptReason = (typeof keptReasons)[number];

export interface Collection {
  /** True: makes every decision under the same locks but deletes nothing. */
  dryRun?: boolean;
  /** Called after the transaction of each batch. If it throws, the collection ends with that error. */
  onBatch(collected: readonly Collected[], kept: readonly KeptReason[]): void | Promise<void>;
}

/**
 * Deletes, in batches, the contents of those versions of these workspaces that retention does not keep. Throws
 * `unavailable` if the workspaces service is unavailable.
 *
 * Any number of replicas may run it concurrently: each batch locks its rows and, while they are locked, checks that the
 * retention response is still current.
 */
export async function collectWorkspaces(
  app: App,
  workspaceIds: readonly WorkspaceId[],
  collection: Collection,
): Promise<void> {
  let answer = await getRetention(app, workspaceIds);
  let searches = [...duesOf(app, answer).values()].map((due) => ({ due, after: 0n }));
  while (searches.length > 0) {
    const limit = Math.ceil(CANDIDATES / searches.length);
    const candidates = await app.reads.retention.listDue(searches, limit);
    for (let from = 0; from < candidates.length; from += BATCH) {
      const batch = candidates.slice(from, from + BATCH);
      answer = await collectBatch(app, batch, answer, collection);
    }
    // Continues with the workspaces that may have more candidates, each after its last candidate of this round.
    searches = nextSearches(candidates, limit, duesOf(app, answer));
  }
}

async function getRetention(
  app: App,
  workspaceIds: readonly WorkspaceId[],
): Promise<RetentionAnswer> {
  const requestedAt = app.now();
  return { ...(await app.workspaces.batchGetRetention(workspaceIds)), requestedAt };
}

/** Returns which versions are due, by workspace. */
const duesOf = (app: App, { retentions }: RetentionAnswer): Map<WorkspaceId, RetentionDue> =>
  new Map(
    retentions
      .map((retention) => dueOf(retention, app.settings.retentionRules, app.now()))
      .filter((due) => due !== undefined)
      .map((due) => [due.workspaceId, due]),
  );

function nextSearches(
  candidates: readonly RetentionCandidate[],
  limit: number,
  dues: ReadonlyMap<WorkspaceId, RetentionDue>,
): RetentionSearch[] {
  const found = Map.groupBy(candidates, ({ workspaceId }) => workspaceId);
  return [...found].flatMap(([workspaceId, versions]) => {
    const [due, last] = [dues.get(workspaceId), versions.at(-1)];
    return due && last && versions.length === limit ? [{ due, after: last.position }] : [];
  });
}

/**
 * Deletes the contents of those versions of the batch that retention does not keep; a dry run deletes nothing. Returns
 * the response of the workspaces service that was used: `answered`, or a newer one if `answered` was outdated.
 */
async function collectBatch(
  app: App,
  batch: readonly RetentionCandidate[],
  answered: RetentionAnswer,
  { dryRun = false, onBatch }: Collection,
): Promise<RetentionAnswer> {
  let answer = answered;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const outcome = await app.transaction((tx) => decideBatch(app, tx, batch, answer, dryRun));
    if (outcome) {
      await onBatch(outcome.collected, outcome.kept);
      return answer;
    }
    const workspaceIds = answered.retentions.map(({ workspaceId }) => workspaceId);
    answer = await getRetention(app, workspaceIds);
  }
  // If the workspaces service was restored from a backup, its retention version is lower than the one stored in this
  // database until enough policies have changed.
  throw new Error(
    "retention version decreased; the database of workspaces may have been restored from a backup",
  );
}

/** A version and its workspace's state, both locked by the transaction. */
interface Locked {
  workspaceState: WorkspaceState;
  version: CollectibleVersion;
}

interface Outcome {
  collected: Collected[];
  kept: KeptReason[];
}

/**
 * Deletes the contents of those versions of the batch that retention does not keep; a dry run deletes nothing. Returns
 * undefined and changes nothing if `answer`, the response of the workspaces service, is outdated.
 */
async function decideBatch(
  app: App,
  tx: Tx,
  batch: readonly RetentionCandidate[],
  answer: RetentionAnswer,
  dryRun: boolean,
): Promise<Outcome | undefined> {
  const now = app.now();
  if (!isCurrentAnswer(answer, await tx.retention.getVersion(), now)) return undefined;
  const { locked, busy } = await lockBatch(tx, batch);
  const dues = duesOf(app, answer);
  const shared = await tx.retention.listShared(locked.map(({ version }) => version.id));
  const found = locked.map(({ version }) => dues.get(version.workspaceId));
  const starts = await startsOfLast(
    tx,
    found.filter((due) => due !== undefined),
  );
  const outcome: Outcome = {
    collected: [],
    kept: Array.from({ length: busy }, () => "busy"),
  };
  const toPurge: Locked[] = [];
  for (const one of locked) {
    const due = dues.get(one.workspaceState.workspaceId);
    const reason = due
      ? reasonToRetain(one, due, {
          shared: shared.has(one.version.id),
          startOfLast: starts.get(due.organizationId),
        })
      : "notDue";
    if (reason) outcome.kept.push(reason);
    else if (due) {
      toPurge.push(one);
      const { id, workspaceId, createdAt, size } = one.version;
      const bytes = Number(size ?? 0);
      outcome.collected.push({ id, workspaceId, rule: due.rule, createdAt, bytes });
    }
  }
  if (!dryRun && toPurge.length > 0) await purge(app, tx, toPurge, now);
  return outcome;
}

/**
 * Locks the rows of the batch's workspaces, versions and blobs, in the order that all transactions use. Skips versions
 * whose rows are deleted. Also skips, and counts as `busy`, versions in workspaces that another transaction has locked.
 */
async function lockBatch(
  tx: Tx,
  batch: readonly RetentionCandidate[],
): Promise<{ locked: Locked[]; busy: number }> {
  const ids = [...new Set(batch.map(({ workspaceId }) => workspaceId))];
  const workspaceStates = new Map(
    (await tx.workspaceStates.listUnlockedForUpdate(ids)).map((row) => [row.workspaceId, row]),
  );
  const available = batch.filter(({ workspaceId }) => workspaceStates.has(workspaceId));
  const versions = await tx.retention.listForUpdate(available.map(({ id }) => id));
  const keys = versions.flatMap(({ blobKey, jsonBlobKey }) => [blobKey, jsonBlobKey]);
  await tx.blobs.lock(keys.filter((key) => key !== null));
  const found = new Map(versions.map((version) => [version.id, version]));
  const locked = available.flatMap(({ id, workspaceId }) => {
    const [workspaceState, version] = [workspaceStates.get(workspaceId), found.get(id)];
    return workspaceState && version ? [{ workspaceState, version }] : [];
  });
  return { locked, busy: batch.length - available.length };
}

/** Returns the result of `findStartOfLast` for each organization on the free tier, by the organization's id. */
async function startsOfLast(tx: Tx, dues: readonly RetentionDue[]): Promise<Map<string, Date>> {
  const organizations = new Set(
    dues.filter(({ rule }) => rule === "free-tier").map(({ organizationId }) => organizationId),
  );
  const starts = new Map<string, Date>();
  for (const organizationId of organizations) {
    const start = await tx.retention.findStartOfLast(organizationId, FREE_TIER_STATES);
    if (start) starts.set(organizationId, start);
  }
  return starts;
}

/**
 * Deletes the contents of the versions in the same way as a user's request. In editions without the status
 * `backing_data_permanently_deleted`, also deletes the versions' rows.
 */
async function purge(app: App, tx: Tx, locked: readonly Locked[], now: Date): Promise<void> {
  const versions = locked.map(({ version }) => version);
  await deleteContents(app, tx, versions);
  if (!app.edition.has("state-versions.backing-data-actions")) {
    await tx.stateVersions.remove(versions.map(({ id }) => id));
  }
  for (const [workspaceState, of] of Map.groupBy(locked, (one) => one.workspaceState)) {
    touch(workspaceState, now);
    const purged = of.map(({ version }) => version);
    await tx.record(stateVersionsCollected(workspaceState, purged));
  }
}
