import { authorize, type Caller } from "@statehouse/authorization";
import { asRefusal, isNotFound, Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import type { PageInput } from "@statehouse/postgres";
import type { Page } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { readScopeOf, targetOf } from "../caller-app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import { getOrganization } from "../organization/app.ts";
import { touch } from "../revision-domain.ts";
import { checkOverrides, replaceWorkspaceTags } from "../tag-binding/app.ts";
import {
  checkTagBindingCount,
  mergeTagBindings,
  tagKeysAfterAdding,
} from "../tag-binding/domain.ts";
import { workspaceNotFound } from "../workspace/domain.ts";
import { workspaceUpdated } from "../workspace/events-store.ts";
import { getReadablePlacement } from "../workspace-placement/app.ts";
import { type Tag, type TagId, tagNotFound } from "./domain.ts";
import { tagDeleted } from "./store.ts";

export interface TagSearch {
  organizationName: string;
  /** Part of the tag's name; empty matches all tags. */
  query: string;
  /** If set, omits the tags of this workspace. */
  excludeWorkspaceId: WorkspaceId | undefined;
  page: PageInput;
}

/**
 * Returns a page of the flat tags of those workspaces of the organization that the caller may read, ordered by name.
 */
export async function listOrganizationTags(
  app: App,
  caller: Caller,
  { organizationName, ...search }: TagSearch,
): Promise<Page<Tag>> {
  const { id: organizationId } = await getOrganization(app, caller, organizationName);
  const excludeWorkspaceId = await readableOrNone(app, caller, search.excludeWorkspaceId);
  const readable = readScopeOf(caller, "workspace:read", [organizationId]);
  return app.reads.tags.pageOfOrganization({
    ...search,
    organizationId,
    readable,
    excludeWorkspaceId,
  });
}

/**
 * Returns the id if the workspace exists and the caller may read it. Otherwise returns undefined, which excludes no
 * tags.
 */
async function readableOrNone(
  app: App,
  caller: Caller,
  id: WorkspaceId | undefined,
): Promise<WorkspaceId | undefined> {
  if (!id) return undefined;
  try {
    await getReadablePlacement(app, caller, id);
    return id;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Removes tags from every workspace of the organization. Throws `notFound` if one of the tags is unknown. */
export const deleteOrganizationTags = (
  app: App,
  caller: Caller,
  { organizationName, ids }: { organizationName: string; ids: readonly TagId[] },
): Promise<void> =>
  app.transaction(async (tx) => {
    const { id: organizationId } = await tx.organizations.getByName(organizationName);
    authorize(caller, "organization:manage-workspaces", { organizationId }, "organization");
    const uniqueIds = [...new Set(ids)];
    const removed = await tx.tags.remove(organizationId, uniqueIds);
    if (removed.length < uniqueIds.length) throw tagNotFound();
    const revision = nextVersion(0n, app.now());
    for (const { id, name } of removed) {
      await tx.record(tagDeleted({ id, organizationId, name, revision }));
    }
  });

/**
 * Adds a tag to workspaces of its organization. A workspace that already has a flat tag or binding with the tag's name
 * as its key does not change.
 */
export const addTagToWorkspaces = (
  app: App,
  caller: Caller,
  { tagId, workspaceIds }: { tagId: TagId; workspaceIds: readonly WorkspaceId[] },
): Promise<void> =>
  app.transaction(async (tx) => {
    const tag = await tx.tags.get(tagId);
    const { organizationId } = tag;
    authorize(caller, "organization:read", { organizationId }, "tag");
    const readable = readScopeOf(caller, "workspace:read", [organizationId]);
    const visible = await tx.tags.namesOf(organizationId, [tagId], readable);
    if (!visible.has(tagId)) throw asRefusal(tagNotFound(), { organizationId });
    // All transactions lock workspaces in the same order, to prevent deadlocks.
    for (const id of [...new Set(workspaceIds)].toSorted()) {
      const workspace = await tx.workspaces.getForUpdate({ id });
      authorize(caller, "workspace:update", targetOf(workspace));
      if (workspace.organizationId !== organizationId) throw workspaceNotFound();
      const current = await tx.tagBindings.ofWorkspace(id);
      const after = mergeTagBindings([{ key: tag.name, value: "" }], current);
      const problems = new Problems();
      checkTagBindingCount(after, problems, "workspaceIds");
      await checkOverrides(tx, workspace, { current, after }, problems, "workspaceIds");
      problems.throwIfAny();
      const tagKeys = tagKeysAfterAdding(current, after);
      await replaceWorkspaceTags(app, tx, workspace, { current, after, tagKeys });
      touch(workspace, app.now());
      await tx.record(workspaceUpdated(workspace));
    }
  });
