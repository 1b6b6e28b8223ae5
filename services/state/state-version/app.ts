import type { Caller } from "@statehouse/authorization";
import type { PageInput } from "@statehouse/postgres";
import type { App } from "../app.ts";
import { statesNotComparable, stateVersionNotFound } from "../errors-domain.ts";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";
import { authorizeRead, readableOf } from "../state-access-app.ts";
import { problemOfComparison, type StateChanges } from "../state-digest/domain.ts";
import { documentOf, type StateVersionDocument } from "../state-version-document/app.ts";
import { placeWorkspace } from "../workspace-placement/app.ts";
import { contentOf } from "./upload-domain.ts";
import type { ContentKind } from "./upload-token-domain.ts";

/** Returns one version. Throws `notFound` or `forbidden`. */
export async function getStateVersion(
  app: App,
  caller: Caller,
  id: StateVersionId,
): Promise<StateVersionDocument> {
  const version = await app.reads.stateVersions.get(id);
  await authorizeRead(app, caller, "state:read", version, "state version");
  return documentOf(app, caller, version);
}

/**
 * Returns the workspace's current version. Throws `notFound` or `forbidden`; also throws `notFound` if the workspace
 * has no current version.
 */
export async function getCurrentStateVersion(
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
): Promise<StateVersionDocument> {
  const known = await app.reads.workspaceStates.findWithCurrentVersion(workspaceId);
  const target = await placeWorkspace(app, workspaceId, known?.workspaceState);
  await authorizeRead(app, caller, "state:read", target);
  if (!known?.version) throw stateVersionNotFound();
  return documentOf(app, caller, known.version);
}

/**
 * Returns the differences of a version from another version of its workspace, without values, to callers that may read
 * the version. Throws `notFound`, `forbidden`, or the conflict `not_comparable` with the reason; also throws `notFound`
 * if the other version belongs to another workspace.
 */
export async function compareStateVersions(
  app: App,
  caller: Caller,
  { id, sinceId }: { id: StateVersionId; sinceId: StateVersionId },
): Promise<StateChanges> {
  const version = await app.reads.stateVersions.get(id);
  await authorizeRead(app, caller, "state:read", version, "state version");
  const since = await app.reads.stateVersions.get(sinceId);
  if (since.workspaceId !== version.workspaceId) throw stateVersionNotFound();
  const { versions, changes } = await app.reads.stateVersionDigests.changes(id, sinceId);
  const problem = problemOfComparison(versions);
  if (problem !== undefined) throw statesNotComparable(problem);
  return changes;
}

export interface ListStateVersions {
  workspaceId: WorkspaceId;
  status: string | undefined;
  page: PageInput;
}

/** Returns the workspace's versions, newest first. */
export async function listStateVersions(
  app: App,
  caller: Caller,
  { workspaceId, status, page }: ListStateVersions,
): Promise<{ documents: StateVersionDocument[]; total: number }> {
  const found = await app.reads.stateVersions.list(workspaceId, status, page);
  const target = await placeWorkspace(app, workspaceId, found?.workspaceState);
  await authorizeRead(app, caller, "state:read", target);
  const { rows, total } = found?.page ?? { rows: [], total: 0 };
  const { organizationId, projectId } = target;
  return {
    documents: rows.map((version) =>
      documentOf(app, caller, { ...version, organizationId, projectId }),
    ),
    total,
  };
}

/** Returns the versions among `ids` that the caller may read, in the order of `ids`. */
export async function batchGetStateVersions(
  app: App,
  caller: Caller,
  ids: readonly StateVersionId[],
): Promise<StateVersionDocument[]> {
  if (caller.kind !== "principal" || ids.length === 0) return [];
  const versions = await app.reads.stateVersions.batch(ids);
  const byId = new Map(versions.map((version) => [version.id, version]));
  const found = [...new Set(ids)]
    .map((id) => byId.get(id))
    .filter((version) => version !== undefined);
  const readable = await readableOf(app, caller, "state:read", found);
  return readable.map((version) => documentOf(app, caller, version));
}

export interface Download {
  organizationId: string;
  blobKey: string;
  size: number;
  /**
   * A digest that identifies the content: the md5 of raw state, because clients know it, or the sha256 of JSON state.
   */
  digest: string;
  filename: string;
}

/**
 * Returns the blob of one of the version's contents (raw state or JSON form) if the caller may read the state. Throws
 * `notFound` or `forbidden`.
 */
export async function authorizeDownload(
  app: App,
  caller: Caller,
  versionId: StateVersionId,
  kind: ContentKind,
): Promise<Download> {
  const version = await app.reads.stateVersions.getStored(versionId);
  await authorizeRead(app, caller, "state:read", version, "state version");
  const content = version.status === "finalized" ? contentOf(version, kind) : undefined;
  if (!content) throw stateVersionNotFound();
  const extension = kind === "raw" ? "tfstate" : "json";
  const { blobKey, size, sha256 } = content;
  const digest = kind === "raw" ? version.md5 : sha256;
  const { organizationId } = version;
  return { organizationId, blobKey, size, digest, filename: `${versionId}.${extension}` };
}
