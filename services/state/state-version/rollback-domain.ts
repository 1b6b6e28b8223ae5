import { newRow } from "@statehouse/postgres/new-row";
import {
  rollbackToOtherWorkspace,
  rollbackWithoutContent,
  serialsExhausted,
} from "../errors-domain.ts";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import { newestOf, StateVersion } from "./domain.ts";

/**
 * Throws `rollbackToOtherWorkspace` if the source belongs to another workspace. Must be called after the check that the
 * caller may read the source.
 */
export function requireOwnSource(
  source: Pick<StateVersion, "workspaceId">,
  workspaceId: WorkspaceId,
): void {
  if (source.workspaceId !== workspaceId) throw rollbackToOtherWorkspace();
}

/**
 * Returns the copy that an earlier call of the same request created: the newest version, if it was copied from this
 * source under this lock. Clients repeat a request if they receive no response.
 */
export function repeatedRollback(
  sourceId: StateVersionId,
  epoch: bigint,
  known: readonly StateVersion[],
): StateVersion | undefined {
  const newest = newestOf(known);
  const isRepeat =
    newest?.rollbackVersionId === sourceId &&
    newest.lockEpoch === epoch &&
    newest.status === "finalized";
  return isRepeat ? newest : undefined;
}

/**
 * Returns a serial that is higher than every serial of this lock epoch, and also higher than the serial of the newest
 * version that is not discarded. Throws `serialsExhausted`.
 *
 * `known` must contain the newest version that is not discarded, and the version with the highest serial of this epoch.
 */
export function followingSerial(epoch: bigint, known: readonly StateVersion[]): bigint {
  const newest = newestOf(known.filter(({ status }) => status !== "discarded"));
  const serials = known
    .filter((version) => version === newest || version.lockEpoch === epoch)
    .map(({ serial }) => serial);
  const following =
    serials.reduce((highest, serial) => (serial > highest ? serial : highest), 0n) + 1n;
  if (following > BigInt(Number.MAX_SAFE_INTEGER)) throw serialsExhausted();
  return following;
}

/** The fields of a copy that the caller of `copyVersion` chooses. */
export type CopyFields = Pick<
  StateVersion,
  "id" | "position" | "lockEpoch" | "serial" | "createdAt" | "createdByType" | "createdById"
>;

/**
 * Returns a finalized version with the source's contents. The bytes are shared, so they still contain the source's
 * serial. Throws `rollbackWithoutContent`.
 */
export function copyVersion(source: StateVersion, fields: CopyFields): StateVersion {
  if (source.status !== "finalized") throw rollbackWithoutContent(source.status);
  return newRow(StateVersion, {
    ...source,
    ...fields,
    intermediate: false,
    createdTokenId: null,
    runId: null,
    // A copy accepts no uploads.
    expiresAt: fields.createdAt,
    rollbackVersionId: source.id,
    extractionDueAt: source.resourcesProcessed ? null : fields.createdAt,
    extractionAttempts: 0,
    softDeletedAt: null,
  });
}
