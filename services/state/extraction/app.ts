import type { App } from "../app.ts";
import type { Tx } from "../nouns.ts";
import type { PackedExtraction } from "../state-file/packed-extraction-domain.ts";
import type { StateVersion } from "../state-version/domain.ts";
import { stateVersionProcessed } from "../state-version/events-store.ts";
import {
  backoffMs,
  endRepeatedExtraction,
  holdsClaim,
  isExhausted,
  setExtracted,
  setUnreadable,
} from "../state-version/extraction-domain.ts";
import { touch, type WorkspaceState } from "../workspace-state/domain.ts";
import { workspaceStateChanged } from "../workspace-state/store.ts";
import type { ExtractionClaim } from "./store.ts";

/** How long a claim lasts without renewal; another worker can claim the version afterwards. */
const LEASE_MS = 20_000;
/** Time between two renewals of a lease. */
export const RENEWAL_MS = 5_000;

const leaseFrom = (now: Date): Date => new Date(now.getTime() + LEASE_MS);

/** Claims the version that has waited longest for extraction; returns undefined if no version is waiting. */
export async function claimExtraction(app: App): Promise<ExtractionClaim | undefined> {
  for (;;) {
    const now = app.now();
    const claim = await app.leases.extractions.claim(now, leaseFrom(now));
    if (!claim) return undefined;
    if (!isExhausted(claim.attempt - 1)) return claim;
    // None of the allowed attempts finished. The file presumably crashes the process that extracts it.
    await giveUp(app, claim, "extraction never finished");
  }
}

/**
 * Extends the claim. Returns false if the claim is lost, for example because another replica has claimed the version.
 */
export const renewExtraction = (app: App, claim: ExtractionClaim): Promise<boolean> =>
  app.leases.extractions.renew(claim, leaseFrom(app.now()));

/**
 * Stores the result of an extraction. Changes nothing if the claim was lost.
 *
 * - Outputs are stored unless the create request contained them.
 * - If the version was extracted before and is extracted again because it became current, only the workspace's
 *   resources are stored.
 */
export const storeExtraction = (
  app: App,
  claim: ExtractionClaim,
  extraction: PackedExtraction,
): Promise<void> =>
  changeClaimed(app, claim, async (tx, { workspaceState, version }) => {
    const replaceResources = async () => {
      if (workspaceState.currentVersionId === version.id) {
        await tx.workspaceResources.replace(version, extraction.instances);
      }
    };
    if (version.resourcesProcessed) {
      await replaceResources();
      return endRepeatedExtraction(version);
    }
    const { serial } = extraction;
    if (serial !== null && serial !== version.serial) {
      const serials = { requested: String(version.serial), inFile: String(serial) };
      app.logger.warn(
        { stateVersionId: version.id, ...serials },
        "serial of the state version differs from the serial in its file",
      );
    }
    setExtracted(version, extraction);
    // These statements are sent together; none of them waits for the result of another one.
    await Promise.all([
      replaceResources(),
      tx.stateVersions.setInventory(version.id, extraction),
      extraction.digests && tx.stateVersionDigests.save(version.id, extraction.digests),
    ]);
    if (!version.outputsGiven) {
      tx.stateVersionOutputs.saveAll(version.id, extraction.outputs);
    }
    await recordProcessed(app, tx, workspaceState, version);
  });

/**
 * Why an extraction failed:
 *
 * - `content`: the file is invalid, so every attempt would fail in the same way.
 * - `reading`: time or memory was insufficient; extraction is given up after a few attempts.
 * - `store`: the bytes could not be loaded; this is temporary, so extraction is always tried again.
 */
export type ExtractionFault = "content" | "reading" | "store";

/** Ends the claim: extraction is tried again later, or is given up with `reason` recorded. */
export async function failExtraction(
  app: App,
  claim: ExtractionClaim,
  { reason, fault }: { reason: string; fault: ExtractionFault },
): Promise<void> {
  const isFinal = fault === "content" || (fault === "reading" && isExhausted(claim.attempt));
  if (isFinal) return giveUp(app, claim, reason);
  await changeClaimed(app, claim, async (_tx, { version }) => {
    version.extractionDueAt = new Date(app.now().getTime() + backoffMs(claim.attempt));
    // A failure of the store is not counted as an attempt, because it is not caused by the file.
    if (fault === "store") version.extractionAttempts -= 1;
  });
}

const giveUp = (app: App, claim: ExtractionClaim, reason: string): Promise<void> =>
  changeClaimed(app, claim, async (tx, { workspaceState, version }) => {
    app.logger.error({ stateVersionId: version.id, reason }, "state version unreadable");
    if (workspaceState.currentVersionId === version.id) {
      await tx.workspaceResources.replace(version, "[]");
    }
    if (version.resourcesProcessed) return endRepeatedExtraction(version);
    setUnreadable(version, reason);
    await recordProcessed(app, tx, workspaceState, version);
  });

const changeClaimed = (
  app: App,
  claim: ExtractionClaim,
  change: (
    tx: Tx,
    rows: { workspaceState: WorkspaceState; version: StateVersion },
  ) => Promise<void>,
): Promise<void> =>
  app.transaction(async (tx) => {
    const { workspaceId, versionId } = claim;
    const { workspaceState, version } = await tx.stateVersions.findWithWorkspaceState(
      workspaceId,
      versionId,
    );
    if (!workspaceState || workspaceState.droppedAt) return;
    if (!version || !holdsClaim(version, claim.attempt)) return;
    await change(tx, { workspaceState, version });
    tx.stateVersions.save(version);
  });

async function recordProcessed(
  app: App,
  tx: Tx,
  workspaceState: WorkspaceState,
  version: StateVersion,
): Promise<void> {
  touch(workspaceState, app.now());
  const isCurrent = workspaceState.currentVersionId === version.id;
  const changes = isCurrent && workspaceState.resourceCount !== version.resourceCount;
  if (changes) workspaceState.resourceCount = version.resourceCount;
  const comparison = await tx.stateVersionDigests.compareWithPrevious(version);
  await tx.record(stateVersionProcessed(workspaceState, version, comparison));
  if (changes) await tx.record(workspaceStateChanged(workspaceState));
}
