import { stateVersionsCollected } from "../domain/events.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import {
  dueOf,
  FREE_TIER_STATES,
  isCurrentAnswer,
  type RetainedReason,
  type RetentionAnswer,
  type RetentionDue,
  type RetentionRule,
  reasonToRetain,
} from "../domain/retention.ts";
import { touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { Tx } from "../store/nouns.ts";
import type {
  CollectibleVersion,
  RetentionCandidate,
  RetentionSearch,
} from "../store/retention.ts";
import type { App } from "./app.ts";
import { deleteContents } from "./backing-data.ts";

/** Number of candidates that are read at a time for all workspaces of a page. */
const CANDIDATES = 4000;
/** Number of versions in one transaction; small, so that locks are held briefly. */
const BATCH = 200;
/** Number of consecutive outdated answers of the service workspaces after which the page fails. */
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

/** `busy`: the workspace was locked; the next scan tries again. `notDue`: the answer of workspaces has changed. */
export type KeptReason = RetainedReason | "busy" | "notDue";

export interface Collection {
  /** Makes each decision under the same locks and deletes nothing. */
  dryRun?: boolean;
  /** Called after each batch is committed; an error ends the collection. */
  onBatch(collected: readonly Collected[], kept: readonly KeptReason[]): void | Promise<void>;
}

/**
 * Deletes the contents of the versions of these workspaces that retention does not keep, in batches. Any number of
 * replicas may run it concurrently: each batch decides by locked rows and by a retention answer that is current while
 * the rows are locked. Throws `unavailable` if the service workspaces is unavailable.
 */
export async function collectWorkspaces(
  app: App,
  workspaceIds: readonly WorkspaceId[],
  collection: Collection,
): Promise<void> {
  let answer = await getRetention(app, workspaceIds);
  let positions = new Map<WorkspaceId, bigint>();
  let searches = searchesFor(app, answer, positions, workspaceIds);
  while (searches.length > 0) {
    const limit = Math.ceil(CANDIDATES / searches.length);
    const candidates = await app.reads.retention.listDue(searches, limit);
    for (let from = 0; from < candidates.length; from += BATCH) {
      const batch = candidates.slice(from, from + BATCH);
      answer = await collectBatch(app, batch, answer, collection);
    }
    // Only workspaces that may have more candidates, each continued after its last candidate of this round.
    positions = nextPositions(candidates, limit);
    searches = searchesFor(app, answer, positions, [...positions.keys()]);
  }
}

async function getRetention(
  app: App,
  workspaceIds: readonly WorkspaceId[],
): Promise<RetentionAnswer> {
  const requestedAt = app.now();
  return { ...(await app.workspaces.batchGetRetention(workspaceIds)), requestedAt };
}

function searchesFor(
  app: App,
  { retentions }: RetentionAnswer,
  positions: ReadonlyMap<WorkspaceId, bigint>,
  workspaceIds: readonly WorkspaceId[],
): RetentionSearch[] {
  const wanted = new Set(workspaceIds);
  return retentions
    .filter(({ workspaceId }) => wanted.has(workspaceId))
    .map((retention) => dueOf(retention, app.settings.retentionRules, app.now()))
    .filter((due) => due !== undefined)
    .map((due) => ({ due, after: positions.get(due.workspaceId) ?? 0n }));
}

function nextPositions(
  candidates: readonly RetentionCandidate[],
  limit: number,
): Map<WorkspaceId, bigint> {
  const found = Map.groupBy(candidates, ({ workspaceId }) => workspaceId);
  return new Map(
    [...found]
      .filter(([, versions]) => versions.length === limit)
      .map(([workspaceId, versions]) => [workspaceId, versions.at(-1)?.position ?? 0n]),
  );
}

/** Returns the retention answer by which it decided: the given one, or the one that replaced it. */
async function collectBatch(
  app: App,
  batch: readonly RetentionCandidate[],
  given: RetentionAnswer,
  { dryRun = false, onBatch }: Collection,
): Promise<RetentionAnswer> {
  let answer = given;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const outcome = await app.transaction((tx) => decideBatch(app, tx, batch, answer, dryRun));
    if (outcome) {
      await onBatch(outcome.collected, outcome.kept);
      return answer;
    }
    const workspaceIds = given.retentions.map(({ workspaceId }) => workspaceId);
    answer = await getRetention(app, workspaceIds);
  }
  // After a restore, the version in workspaces is lower than the stored one until later changes of policies exceed
  // it.
  throw new Error("retention version went backwards (workspaces restored from a backup?)");
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

/** Undefined, without any change, if the retention answer is outdated. */
async function decideBatch(
  app: App,
  tx: Tx,
  batch: readonly RetentionCandidate[],
  answer: RetentionAnswer,
  dryRun: boolean,
): Promise<Outcome | undefined> {
  const now = app.now();
  if (!isCurrentAnswer(answer, await tx.retention.getVersion(), now)) return undefined;
  const locked = await lockBatch(tx, batch);
  const workspaceIds = locked.map(({ workspaceState }) => workspaceState.workspaceId);
  const dues = new Map(
    searchesFor(app, answer, new Map(), workspaceIds).map(({ due }) => [due.workspaceId, due]),
  );
  const shared = await tx.retention.listShared(locked.map(({ version }) => version.id));
  const starts = await startsOfLast(tx, [...dues.values()]);
  const outcome: Outcome = {
    collected: [],
    kept: Array.from({ length: batch.length - locked.length }, () => "busy"),
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
      outcome.collected.push(collectedOf(one.version, due.rule));
    }
  }
  if (!dryRun && toPurge.length > 0) await purge(app, tx, toPurge, now);
  return outcome;
}

const collectedOf = (
  { id, workspaceId, createdAt, size }: CollectibleVersion,
  rule: RetentionRule,
): Collected => ({ id, workspaceId, rule, createdAt, bytes: Number(size ?? 0) });

/** Locks rows in the order of all transactions and skips workspaces that another transaction has locked. */
async function lockBatch(tx: Tx, batch: readonly RetentionCandidate[]): Promise<Locked[]> {
  const ids = [...new Set(batch.map(({ workspaceId }) => workspaceId))];
  const workspaceStates = new Map(
    (await tx.workspaceStates.listUnlockedForUpdate(ids)).map((row) => [row.workspaceId, row]),
  );
  const versions = await tx.retention.listForUpdate(
    batch.filter(({ workspaceId }) => workspaceStates.has(workspaceId)).map(({ id }) => id),
  );
  const keys = versions.flatMap(({ blobKey, jsonBlobKey }) => [blobKey, jsonBlobKey]);
  await tx.blobs.lock(keys.filter((key) => key !== null));
  const locked = new Map(versions.map((version) => [version.id, version]));
  return batch.flatMap(({ id, workspaceId }) => {
    const [workspaceState, version] = [workspaceStates.get(workspaceId), locked.get(id)];
    return workspaceState && version ? [{ workspaceState, version }] : [];
  });
}

/** Keyed by organization; contains organizations on the free tier. */
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

/** Deletes contents as a user's request does; in editions without that status it also deletes the rows. */
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
