import { allowed, authorize, type Caller } from "@statehouse/authorization";
import { isNotFound } from "@statehouse/errors";
import { isId, newId } from "@statehouse/postgres/ids";
import type { App } from "../app.ts";
import { discardSuperseded } from "../discarded-version/app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { writableEpoch } from "../lock-epoch/domain.ts";
import { requireNoOrganizationToken } from "../state-access-app.ts";
import {
  documentOf,
  type StateVersionDocument,
  uploadPath,
} from "../state-version-document/app.ts";
import { applyPlacement, targetOf, touch } from "../workspace-state/domain.ts";
import {
  type AnnouncementInput,
  parseAnnouncement,
  repeatedVersion,
  requireOwnRun,
  requireSuccession,
} from "./creation-domain.ts";
import { newStateVersion } from "./domain.ts";
import { stateVersionCreated } from "./events-store.ts";

export interface CreateStateVersion extends AnnouncementInput {
  workspaceId: WorkspaceId;
}

export interface CreatedStateVersion {
  document: StateVersionDocument;
  /** The path to which the gateway uploads inline bytes. Set even if the document contains no upload URLs. */
  uploadPath: string;
  jsonUploadPath: string;
}

/**
 * Creates a pending version under the caller's lock, or returns the version that an earlier call of the same request
 * created. Throws `notFound`, `forbidden` or `invalid`; 412 if the workspace is not locked; and conflicts, for example
 * those of `writableEpoch` and `requireSuccession`.
 */
export async function createStateVersion(
  app: App,
  caller: Caller,
  request: CreateStateVersion,
): Promise<CreatedStateVersion> {
  requireNoOrganizationToken(caller);
  const { outputs, runId, ...announced } = parseAnnouncement(request, app.settings);
  const { workspaceId } = request;
  // Inline state is final, never a snapshot.
  const inline = request.inlineSize !== undefined;
  const [{ lock, placement }, runWorkspaceId] = await Promise.all([
    app.workspaces.getLock(workspaceId),
    runId === undefined ? null : app.workspaces.getRunWorkspace(runId),
  ]);
  const seesRun = await mayReadRun(app, caller, runWorkspaceId, workspaceId);

  const version = await app.transaction(async (tx) => {
    const now = app.now();
    const { serial } = announced;
    const { workspaceState, known } = await tx.stateVersions.getForCreation(workspaceId, {
      ...{ epoch: lock?.epoch ?? 0n, serial },
    });
    applyPlacement(workspaceState, placement);
    authorize(caller, "state:write", targetOf(workspaceState));
    requireOwnRun(workspaceId, seesRun ? runWorkspaceId : null);
    const epoch = writableEpoch(workspaceState, lock, caller.principal);

    const repeated = repeatedVersion(announced, epoch, known, now);
    if (repeated) {
      repeated.createdTokenId = caller.principal.tokenId ?? null;
      if (inline && repeated.status === "pending") repeated.intermediate = false;
      return await tx.stateVersions.commit(workspaceState, repeated);
    }
    requireSuccession(announced, epoch, known);

    await discardSuperseded(app, tx, workspaceState, known, now);
    const created = newStateVersion({
      id: newId("sv"),
      workspaceId,
      position: touch(workspaceState, now),
      lockEpoch: epoch,
      serial,
      md5: announced.md5,
      lineage: announced.lineage,
      intermediate: !inline && app.edition.has("state-versions.intermediate"),
      createdAt: now,
      createdByType: caller.principal.type,
      createdById: caller.principal.id,
      createdTokenId: caller.principal.tokenId ?? null,
      runId: runId ?? null,
      expiresAt: new Date(now.getTime() + app.settings.pendingWindowMs),
      outputsGiven: outputs !== undefined,
    });
    await tx.record(stateVersionCreated(workspaceState, created));
    if (outputs) tx.stateVersionOutputs.saveAll(created.id, outputs);
    return await tx.stateVersions.commit(workspaceState, created);
  });

  // If the request is a repeat, the version can already have its content, and its upload window can have ended. The
  // URLs then get a new expiry, because uploading the same bytes again must still return 200.
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
 * Returns whether an error may reveal to the caller which workspace the run belongs to: true if this is the workspace
 * of the request or a workspace that the caller may read. A run of any other workspace, for example of a deleted one,
 * is treated like an unknown run.
 */
async function mayReadRun(
  app: App,
  caller: Caller,
  runWorkspaceId: string | null,
  workspaceId: WorkspaceId,
): Promise<boolean> {
  if (runWorkspaceId === null || runWorkspaceId === workspaceId) return true;
  if (caller.kind !== "principal" || !isId("ws", runWorkspaceId)) return false;
  try {
    const placement = await app.workspaces.getPlacement(runWorkspaceId);
    return allowed(caller.grants, "workspace:read", placement);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
