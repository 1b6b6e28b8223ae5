import { stateVersionsCollected } from "../domain/events.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import {
  dueOf,
  FREE_TIER_STATES,
  isBelieved,
  type Kept,
  keptBecause,
  type RetentionAnswer,
  type RetentionDue,
  type RetentionRule,
} from "../domain/retention.ts";
import { touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { CollectibleVersion, RetentionCandidate, RetentionLook } from "../store/retention.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { deleteContents } from "./backing-data.ts";

/** Candidates that are read at a time, of all workspaces of a page together. */
const CANDIDATES = 4000;
/** Versions of one transaction, so that nobody waits long for a row. */
const BATCH = 200;
/** Answers of workspaces about policies that were overtaken, until the page is put off. */
const ATTEMPTS = 5;

/** A version that was let go. */
export interface Collected {
  id: StateVersionId;
  workspaceId: WorkspaceId;
  rule: RetentionRule;
  createdAt: Date;
  /** Of its raw state. */
  bytes: number;
}

/** `busy`: somebody held the workspace, it is looked at again with the next pass. `notDue`: the answer has changed. */
export type KeptReason = Kept | "busy" | "notDue";

export interface Collecting {
  /** Decides, under the same locks, and deletes nothing. */
  dryRun?: boolean;
  /** Hears of each batch once it is committed; a failure ends the collection. */
  onBatch(collected: readonly Collected[], kept: readonly KeptReason[]): void | Promise<void>;
}

/**
 * Lets go of the versions of these workspaces that retention does not keep, in batches. Safe beside any number
 * of others: each batch decides by rows that it holds, and by an answer that is still good while it does. Throws
 * `unavailable` without workspaces' answer.
 */
export async function collectWorkspaces(
  app: App,
  workspaceIds: readonly WorkspaceId[],
  collecting: Collecting,
): Promise<void> {
  let asked = await ask(app, workspaceIds);
  let positions = new Map<WorkspaceId, bigint>();
  for (let looks = looksOf(app, asked, positions, workspaceIds); looks.length > 0; ) {
    const limit = Math.ceil(CANDIDATES / looks.length);
    const candidates = await app.retention.dueVersions(looks, limit);
    for (let from = 0; from < candidates.length; from += BATCH) {
      const batch = candidates.slice(from, from + BATCH);
      asked = await collectBatch(app, batch, asked, collecting);
    }
    // Only those that may have more, from where this round ended.
    positions = nextPositions(candidates, limit);
    looks = looksOf(app, asked, positions, [...positions.keys()]);
  }
}

async function ask(app: App, workspaceIds: readonly WorkspaceId[]): Promise<RetentionAnswer> {
  const askedAt = app.now();
  return { ...(await app.workspaces.retentionOf(workspaceIds)), askedAt };
}

function looksOf(
  app: App,
  { retentions }: RetentionAnswer,
  positions: ReadonlyMap<WorkspaceId, bigint>,
  workspaceIds: readonly WorkspaceId[],
): RetentionLook[] {
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

/** Answers with what was asked last: the answer given, or the one that took its place. */
async function collectBatch(
  app: App,
  batch: readonly RetentionCandidate[],
  given: RetentionAnswer,
  { dryRun = false, onBatch }: Collecting,
): Promise<RetentionAnswer> {
  let asked = given;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const outcome = await app.transaction((tx) => decideBatch(app, tx, batch, asked, dryRun));
    if (outcome) {
      await onBatch(outcome.collected, outcome.kept);
      return asked;
    }
    asked = await ask(
      app,
      given.retentions.map(({ workspaceId }) => workspaceId),
    );
  }
  // A restored database of workspaces forgets what it told; the next change of a policy outgrows it.
  throw new Error("workspaces answers about retention by less than it told before");
}

/** A version and its workspace, both held by the transaction. */
interface Held {
  workspace: WorkspaceState;
  version: CollectibleVersion;
}

interface Outcome {
  collected: Collected[];
  kept: KeptReason[];
}

/** Undefined, with nothing done, when the answer no longer counts. */
async function decideBatch(
  app: App,
  tx: Transaction,
  batch: readonly RetentionCandidate[],
  asked: RetentionAnswer,
  dryRun: boolean,
): Promise<Outcome | undefined> {
  const now = app.now();
  if (!isBelieved(asked, await tx.retentionVersion(), now)) return undefined;
  const held = await holdBatch(tx, batch);
  const dues = new Map(
    looksOf(
      app,
      asked,
      new Map(),
      held.map(({ workspace }) => workspace.workspaceId),
    ).map(({ due }) => [due.workspaceId, due]),
  );
  const shared = await tx.sharedVersions(held.map(({ version }) => version.id));
  const begins = await lastStatesBegin(tx, [...dues.values()]);
  const outcome: Outcome = {
    collected: [],
    kept: Array.from({ length: batch.length - held.length }, () => "busy"),
  };
  const going: Held[] = [];
  for (const one of held) {
    const due = dues.get(one.workspace.workspaceId);
    if (!due) {
      outcome.kept.push("notDue");
      continue;
    }
    const reason = keptBecause(one, due, {
      shared: shared.has(one.version.id),
      lastBegin: begins.get(due.organizationId),
    });
    if (reason) {
      outcome.kept.push(reason);
      continue;
    }
    going.push(one);
    outcome.collected.push(collectedOf(one.version, due.rule));
  }
  if (!dryRun && going.length > 0) await letGo(app, tx, going, now);
  return outcome;
}

const collectedOf = (
  { id, workspaceId, createdAt, size }: CollectibleVersion,
  rule: RetentionRule,
): Collected => ({ id, workspaceId, rule, createdAt, bytes: Number(size ?? 0) });

/** In the order that all transactions take rows in. Workspaces that somebody holds are left out. */
async function holdBatch(tx: Transaction, batch: readonly RetentionCandidate[]): Promise<Held[]> {
  const ids = [...new Set(batch.map(({ workspaceId }) => workspaceId))];
  const workspaces = new Map(
    (await tx.freeWorkspacesForUpdate(ids)).map((workspace) => [workspace.workspaceId, workspace]),
  );
  const versions = await tx.holdCollectible(
    batch.filter(({ workspaceId }) => workspaces.has(workspaceId)).map(({ id }) => id),
  );
  const keys = versions.flatMap(({ blobKey, jsonBlobKey }) => [blobKey, jsonBlobKey]);
  await tx.holdBlobs(keys.filter((key) => key !== null));
  const held = new Map(versions.map((version) => [version.id, version]));
  return batch.flatMap(({ id, workspaceId }) => {
    const [workspace, version] = [workspaces.get(workspaceId), held.get(id)];
    return workspace && version ? [{ workspace, version }] : [];
  });
}

/** By organization, where the free tier's rule counts. */
async function lastStatesBegin(
  tx: Transaction,
  dues: readonly RetentionDue[],
): Promise<Map<string, Date>> {
  const organizations = new Set(
    dues.filter(({ rule }) => rule === "free-tier").map(({ organizationId }) => organizationId),
  );
  const begins = new Map<string, Date>();
  for (const organizationId of organizations) {
    const begin = await tx.lastStatesBegin(organizationId, FREE_TIER_STATES);
    if (begin) begins.set(organizationId, begin);
  }
  return begins;
}

/** As by hand, for all at once; where versions have no such status, their rows go too. */
async function letGo(app: App, tx: Transaction, going: readonly Held[], now: Date): Promise<void> {
  const versions = going.map(({ version }) => version);
  await deleteContents(app, tx, versions);
  if (!app.edition.has("state-versions.backing-data-actions")) {
    await tx.forgetVersions(versions.map(({ id }) => id));
  }
  for (const [workspace, of] of Map.groupBy(going, (one) => one.workspace)) {
    touch(workspace, now);
    await tx.record(
      stateVersionsCollected(
        workspace,
        of.map(({ version }) => version),
      ),
    );
  }
}
