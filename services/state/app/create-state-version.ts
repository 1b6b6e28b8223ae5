import { allowed, authorize, type Caller } from "@statehouse/authorization";
import { isNotFound } from "@statehouse/errors";
import { newId } from "@statehouse/postgres";
import { stateVersionNotFound } from "../domain/errors.ts";
import { stateVersionCreated } from "../domain/events.ts";
import { isWorkspaceId, type StateVersionId, type WorkspaceId } from "../domain/ids.ts";
import { parseGivenOutputs } from "../domain/output.ts";
import { StateVersion } from "../domain/state-version.ts";
import {
  type Announcement,
  type InlineContent,
  parseAnnouncement,
  repeatedVersion,
  requireOwnRun,
  requireRunId,
  requireSuccession,
} from "../domain/state-version-creation.ts";
import { applyPlacement, targetOf, touch, writableEpoch } from "../domain/workspace-state.ts";
import type { App } from "./app.ts";
import { requireNoOrganizationToken } from "./organization-token.ts";
import { documentOf, type StateVersionDocument, uploadPath } from "./state-version-document.ts";
import { supersedePending } from "./supersession.ts";

export interface CreateStateVersion extends Announcement, InlineContent {
  workspaceId: WorkspaceId;
  /** The outputs part of the engine's JSON show output. */
  jsonStateOutputs: Uint8Array | undefined;
  runId: string | undefined;
}

export interface CreatedStateVersion {
  document: StateVersionDocument;
  /** Where the gateway puts inline bytes, whatever the document hides. */
  uploadPath: string;
  jsonUploadPath: string;
}

/**
 * Makes a pending version under the caller's lock, or answers the one that a repeat means. Throws
 * `notFound`, `forbidden`, `invalid`, 412 unlocked, and the conflicts of wire-compatibility, section 4.
 */
export async function createStateVersion(
  app: App,
  caller: Caller,
  request: CreateStateVersion,
): Promise<CreatedStateVersion> {
  requireNoOrganizationToken(caller);
  const announced = parseAnnouncement(request, app.settings);
  requireRunId(request.runId);
  const outputs = request.jsonStateOutputs && parseGivenOutputs(request.jsonStateOutputs);
  const { workspaceId } = request;
  // Never intermediate.
  const inline = request.inlineSize !== undefined;
  const { lock, placement, runWorkspaceId } = await app.workspaces.getLock(
    workspaceId,
    request.runId,
  );
  const seesRun = await mayKnowOfRun(app, caller, runWorkspaceId, workspaceId);

  const versionId = await app.transaction(async (tx): Promise<StateVersionId> => {
    const now = app.now();
    const workspace = await tx.workspaceForUpdate(workspaceId);
    applyPlacement(workspace, placement);
    authorize(caller, "state:write", targetOf(workspace));
    requireOwnRun(workspaceId, seesRun ? runWorkspaceId : null);
    const epoch = writableEpoch(workspace, lock, caller.principal);
    const { serial } = announced;
    const known = await tx.versionsBeforeCreation(workspaceId, { epoch, serial });

    const repeated = repeatedVersion(announced, epoch, known, now);
    if (repeated) {
      if (inline && repeated.status === "pending") repeated.intermediate = false;
      return repeated.id;
    }
    requireSuccession(announced, epoch, known);

    await supersedePending(app, tx, workspace, known, now);
    const version = new StateVersion({
      id: newId("sv"),
      workspaceId,
      position: touch(workspace, now),
      lockEpoch: epoch,
      serial,
      md5: announced.md5,
      lineage: announced.lineage,
      intermediate: !inline && app.edition.has("state-versions.intermediate"),
      createdAt: now,
      createdByType: caller.principal.type,
      createdById: caller.principal.id,
      runId: request.runId ?? null,
      expiresAt: new Date(now.getTime() + app.settings.pendingWindowMs),
      outputsGiven: outputs !== undefined,
    });
    await tx.addVersion(version);
    if (outputs) await tx.addOutputs(version, outputs);
    await tx.record(stateVersionCreated(workspace, version));
    return version.id;
  });

  const version = await app.reads.version(versionId);
  if (!version) throw stateVersionNotFound();
  // Of a version that has its content the window may be over; the repeat of its bytes still is 200.
  const expiresAt =
    version.status === "pending"
      ? version.expiresAt
      : new Date(app.now().getTime() + app.settings.pendingWindowMs);
  return {
    document: documentOf(app, caller, version),
    uploadPath: uploadPath(app, version, "raw", expiresAt),
    jsonUploadPath: uploadPath(app, version, "json", expiresAt),
  };
}

/**
 * Whether the caller may hear that a run is another workspace's. A run of what it may not read, or of what is
 * gone, is to it as one that nobody has reported yet.
 */
async function mayKnowOfRun(
  app: App,
  caller: Caller,
  runWorkspaceId: string | null,
  workspaceId: WorkspaceId,
): Promise<boolean> {
  if (runWorkspaceId === null || runWorkspaceId === workspaceId) return true;
  if (caller.kind !== "principal" || !isWorkspaceId(runWorkspaceId)) return false;
  try {
    const placement = await app.workspaces.getPlacement(runWorkspaceId);
    return allowed(caller.grants, "workspace:read", placement);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
