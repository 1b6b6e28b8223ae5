import { allowed, authorize, type Caller } from "@statehouse/authorization";
import { isNotFound } from "@statehouse/errors";
import { isId, newId } from "@statehouse/postgres/ids";
import { stateVersionCreated } from "../domain/events.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import { type LockAnswer, requireHolder, writableEpoch } from "../domain/lock-epoch.ts";
import { newStateVersion, type StateVersion } from "../domain/state-version.ts";
import {
  type AnnouncementInput,
  parseAnnouncement,
  repeatedVersion,
  requireOwnRun,
  requireSuccession,
} from "../domain/state-version-creation.ts";
import { applyPlacement, targetOf, touch } from "../domain/workspace-state.ts";
import type { App } from "./app.ts";
import {
  type ContentStore,
  commitStored,
  type InlineContent,
  type StoredInline,
} from "./content-store.ts";
import { discardSuperseded } from "./discarded-version.ts";
import { requireActiveRun, requireNoOrganizationToken } from "./state-access.ts";
import { documentOf, type StateVersionDocument, uploadPath } from "./state-version-document.ts";
import { attachContent, beforeSweeping } from "./upload.ts";

export interface CreateStateVersion extends AnnouncementInput {
  workspaceId: WorkspaceId;
  /** The contents themselves, if the call contains them. */
  inlineState?: Uint8Array | undefined;
  inlineJsonState?: Uint8Array | undefined;
}

export interface CreatedStateVersion {
  document: StateVersionDocument;
  /** Whether the call contained contents, which are now stored. */
  contentsStored: boolean;
  /** The path to which the gateway uploads inline bytes. Set even if the document contains no upload URLs. */
  uploadPath: string;
  jsonUploadPath: string;
}

/**
 * Creates a version under the caller's lock, or returns the version that an earlier call of the same request created.
 * The version is pending, or finalized if the call contains its state. Throws `notFound`, `forbidden` or `invalid`; 412
 * if the workspace is not locked; and conflicts, for example those of `requireHolder` and `requireSuccession`.
 */
export async function createStateVersion(
  app: App,
  contents: ContentStore,
  caller: Caller,
  request: CreateStateVersion,
): Promise<CreatedStateVersion> {
  requireNoOrganizationToken(caller);
  const { outputs, runId, ...announced } = parseAnnouncement(request, app.settings);
  const { workspaceId } = request;
  // Inline state is final, never a snapshot.
  const inline = request.inlineSize !== undefined;
  const answer = await app.workspaces.getLock(workspaceId, runId);
  const { lock, placement, runWorkspaceId } = answer;
  const seesRun = await mayReadRun(app, caller, runWorkspaceId, workspaceId);
  const id = newId("sv");
  const inlined = inlineContents(request, id, announced.md5);
  if (inlined.length > 0) await requireStorable(app, caller, answer);

  const create = (stored: readonly StoredInline[], used: Set<string>) =>
    app.transaction(async (tx) => {
      const now = app.now();
      const { serial } = announced;
      const { workspaceState, known } = await tx.stateWrites.getForCreation(workspaceId, {
        ...{ epoch: lock?.epoch ?? 0n, serial },
      });
      applyPlacement(workspaceState, placement);
      authorize(caller, "state:write", targetOf(workspaceState));
      requireOwnRun(workspaceId, seesRun ? runWorkspaceId : null);
      const epoch = writableEpoch(workspaceState, lock, caller.principal);
      const attach = async (version: StateVersion) => {
        used.clear();
        for (const content of stored) {
          const change = { workspaceState, version, ...content, now };
          const outcome = await attachContent(app, tx, change);
          if (outcome === "stored") used.add(content.attempt.blobKey);
        }
      };

      const repeated = repeatedVersion(announced, epoch, known, now);
      if (repeated) {
        repeated.createdTokenId = caller.principal.tokenId ?? null;
        if (inline && repeated.status === "pending") repeated.intermediate = false;
        await attach(repeated);
        return await tx.stateWrites.commitRepeat(workspaceState, repeated);
      }
      requireSuccession(announced, epoch, known);

      const superseded = await discardSuperseded(app, tx, workspaceState, known, now);
      const created = newStateVersion({
        id,
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
      await attach(created);
      if (outputs) tx.stateVersionOutputs.saveAll(created.id, outputs);
      return await tx.stateWrites.commitCreation(workspaceState, created, superseded);
    });

  const version = await commitStored(app, contents, inlined, (stored, used) => {
    const attempts = stored.map(({ attempt }) => attempt);
    return beforeSweeping(app, attempts, () => create(stored, used));
  });

  // If the request is a repeat, the version can already have its content, and its upload window can have ended. The
  // URLs then get a new expiry, because uploading the same bytes again must still return 200.
  const expiresAt =
    version.status === "pending"
      ? version.expiresAt
      : new Date(app.now().getTime() + app.settings.pendingWindowMs);
  return {
    document: documentOf(app, caller, version),
    contentsStored: inlined.length > 0,
    uploadPath: uploadPath(app, version, "raw", expiresAt),
    jsonUploadPath: uploadPath(app, version, "json", expiresAt),
  };
}

function inlineContents(
  { workspaceId, inlineState, inlineJsonState }: CreateStateVersion,
  versionId: StateVersionId,
  md5: string,
): InlineContent[] {
  const contents: InlineContent[] = [];
  // The JSON form is attached first, because the raw state finalizes the version. Clients upload in the same order.
  const json = inlineJsonState && { bytes: inlineJsonState, kind: "json" as const };
  const raw = inlineState && { bytes: inlineState, kind: "raw" as const, md5 };
  for (const content of [json, raw]) {
    if (content) contents.push({ workspaceId, versionId, ...content });
  }
  return contents;
}

/**
 * Throws unless the caller may write the workspace and holds its lock, according to the workspaces service. Called
 * before bytes are stored, so that a caller without these rights cannot fill the store. The transaction checks the same
 * rules again, and also the rules that depend on other versions.
 */
async function requireStorable(
  app: App,
  caller: Caller,
  { lock, placement }: LockAnswer,
): Promise<void> {
  authorize(caller, "state:write", placement);
  requireHolder(lock, caller.principal);
  await requireActiveRun(app, caller, placement);
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
