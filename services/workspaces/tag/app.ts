import { authorize, type Caller } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import type { PageInput } from "@statehouse/postgres";
import type { Page } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { readScopeOf, targetOf } from "../caller-app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { touch } from "../revision-domain.ts";
import { checkOverrides, replaceWorkspaceTags } from "../tag-binding/app.ts";
import {
  checkTagBindingCount,
  checkTagNames,
  mergeTagBindings,
  tagKeysAfterAdding,
} from "../tag-binding/domain.ts";
import type { Workspace } from "../workspace/domain.ts";
import { workspaceUpdated } from "../workspace/events-store.ts";
import { getReadablePlacement } from "../workspace-placement/app.ts";
import { type Tag, type TagRef, tagNotFound } from "./domain.ts";

/** Returns a page of a workspace's flat tags, ordered by name. */
export async function listWorkspaceTags(
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  page: PageInput,
): Promise<Page<Tag>> {
  const { organizationId } = await getReadablePlacement(app, caller, workspaceId);
  const readable = readScopeOf(caller, "workspace:read", [organizationId]);
  return app.reads.tags.pageOfWorkspace(workspaceId, readable, page);
}

/** Adds flat tags to the workspace. A tag or binding that already exists with the same key does not change. */
export const addWorkspaceTags = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  refs: readonly TagRef[],
): Promise<void> =>
  changeTags(app, caller, workspaceId, async (tx, workspace, current) => {
    const names = await namesOf(tx, caller, workspace, refs);
    const problems = new Problems();
    checkTagNames(names, problems, (index) => `tags[${index}].name`);
    const bindings = names.map((key) => ({ key, value: "" }));
    const after = mergeTagBindings(bindings, current);
    checkTagBindingCount(after, problems, "tags");
    await checkOverrides(tx, workspace, { current, after }, problems, "tags");
    problems.throwIfAny();
    return after;
  });

/** Removes flat tags from the workspace. Throws `notFound` for an unknown id; an unknown name is ignored. */
export const removeWorkspaceTags = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  refs: readonly TagRef[],
): Promise<void> =>
  changeTags(app, caller, workspaceId, async (tx, workspace, current) => {
    const names = new Set(await namesOf(tx, caller, workspace, refs));
    const kept = current.filter(({ key, value }) => value !== "" || !names.has(key));
    return mergeTagBindings(kept, []);
  });

type Bindings = Awaited<ReturnType<Tx["tagBindings"]["ofWorkspace"]>>;

const changeTags = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  change: (tx: Tx, workspace: Workspace, current: Bindings) => Promise<Map<string, string>>,
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
    authorize(caller, "workspace:update", targetOf(workspace));
    const current = await tx.tagBindings.ofWorkspace(workspaceId);
    const after = await change(tx, workspace, current);
    const tagKeys = tagKeysAfterAdding(current, after);
    await replaceWorkspaceTags(app, tx, workspace, { current, after, tagKeys });
    touch(workspace, app.now());
    await tx.record(workspaceUpdated(workspace));
  });

/**
 * Returns the names of the referenced tags. Throws `notFound` if an id is unknown, or if the caller may read none of
 * the workspaces that have the tag.
 */
async function namesOf(
  tx: Tx,
  caller: Caller,
  { organizationId }: Workspace,
  refs: readonly TagRef[],
): Promise<string[]> {
  const ids = refs.flatMap((ref) => ("id" in ref ? [ref.id] : []));
  const readable = readScopeOf(caller, "workspace:read", [organizationId]);
  const known = await tx.tags.namesOf(organizationId, ids, readable);
  return refs.map((ref) => {
    const name = "id" in ref ? known.get(ref.id) : ref.name;
    if (name === undefined) throw tagNotFound();
    return name;
  });
}
