import { stateVersionProcessed, workspaceStateChanged } from "../domain/events.ts";
import type { PackedExtraction } from "../domain/extraction.ts";
import type { StateVersion } from "../domain/state-version.ts";
import {
  backoffMs,
  holdsClaim,
  isExhausted,
  processed,
  processedUnread,
  wasReadAgain,
} from "../domain/state-version-extraction.ts";
import { touch, type WorkspaceState } from "../domain/workspace-state.ts";
import type { ClaimedExtraction } from "../store/jobs.ts";
import type { Transaction } from "../store/transaction.ts";
import type { App } from "./app.ts";

/** One version's raw state to be read, held while the lease is renewed. An older attempt's result is not stored. */
export type ExtractionClaim = ClaimedExtraction;

/** How long a state waits whose reader was killed. */
const LEASE_MS = 20_000;
/** How often the reader says that it goes on. */
export const RENEWAL_MS = 5_000;

const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_MS);

/** Takes the next version that waits for extraction; undefined when there is none. */
export async function claimExtraction(app: App): Promise<ExtractionClaim | undefined> {
  for (;;) {
    const now = app.now();
    const claim = await app.jobs.claimExtraction(now, leaseFrom(now));
    if (!claim) return undefined;
    if (!isExhausted(claim.attempt - 1)) return claim;
    // Nobody came back from the attempts before: the file ends its readers.
    await giveUp(app, claim, "reading the state never ended");
  }
}

/** Holds the claim for another while. False when somebody else has taken it. */
export const renewExtraction = (app: App, claim: ExtractionClaim): Promise<boolean> =>
  app.jobs.renewExtraction(claim, leaseFrom(app.now()));

/**
 * Keeps what was found, and the outputs unless they were given at creation. Of a version that was read before,
 * and became current since, only the resources are still to be kept. A lost claim changes nothing.
 */
export const storeExtraction = (
  app: App,
  claim: ExtractionClaim,
  extraction: PackedExtraction,
): Promise<void> =>
  changeClaimed(app, claim, async (tx, { workspace, version }) => {
    if (workspace.currentVersionId === version.id) {
      await tx.setResources(version, extraction.instances);
    }
    if (version.resourcesProcessed) return wasReadAgain(version);
    const { serial } = extraction;
    if (serial !== null && serial !== version.serial) {
      const serials = { requested: String(version.serial), inFile: String(serial) };
      app.logger.warn({ stateVersionId: version.id, ...serials }, "serial differs from the file's");
    }
    processed(version, extraction);
    await tx.setInventory(version.id, extraction);
    if (!version.outputsGiven) await tx.addOutputs(version, extraction.outputs);
    await announce(app, tx, workspace, version);
  });

/**
 * What went wrong. `content`: every attempt would end like this one. `reading`: time or memory, given up after a
 * few attempts. `store`: the bytes could not be had, which passes and is never given up.
 */
export type ExtractionFault = "content" | "reading" | "store";

/** Gives the claim back: to be taken again later, or, when given up, processed with `reason` recorded. */
export async function failExtraction(
  app: App,
  claim: ExtractionClaim,
  { reason, fault }: { reason: string; fault: ExtractionFault },
): Promise<void> {
  const hopeless = fault === "content" || (fault === "reading" && isExhausted(claim.attempt));
  if (hopeless) return giveUp(app, claim, reason);
  await changeClaimed(app, claim, async (_tx, { version }) => {
    version.extractionDueAt = new Date(app.now().getTime() + backoffMs(claim.attempt));
    // Only the file's own faults count.
    if (fault === "store") version.extractionAttempts -= 1;
  });
}

const giveUp = (app: App, claim: ExtractionClaim, reason: string): Promise<void> =>
  changeClaimed(app, claim, async (tx, { workspace, version }) => {
    app.logger.error({ stateVersionId: version.id, reason }, "the state could not be read");
    if (workspace.currentVersionId === version.id) await tx.setResources(version, "[]");
    if (version.resourcesProcessed) return wasReadAgain(version);
    processedUnread(version, reason);
    await announce(app, tx, workspace, version);
  });

const changeClaimed = (
  app: App,
  claim: ExtractionClaim,
  change: (
    tx: Transaction,
    rows: { workspace: WorkspaceState; version: StateVersion },
  ) => Promise<void>,
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.knownWorkspaceForUpdate(claim.workspaceId);
    if (!workspace || workspace.droppedAt) return;
    const version = await tx.versionForUpdate(claim.versionId);
    if (version && holdsClaim(version, claim.attempt)) await change(tx, { workspace, version });
  });

async function announce(
  app: App,
  tx: Transaction,
  workspace: WorkspaceState,
  version: StateVersion,
): Promise<void> {
  touch(workspace, app.now());
  const isCurrent = workspace.currentVersionId === version.id;
  const changes = isCurrent && workspace.resourceCount !== version.resourceCount;
  if (changes) workspace.resourceCount = version.resourceCount;
  await tx.record(stateVersionProcessed(workspace, version));
  if (changes) await tx.record(workspaceStateChanged(workspace));
}
