import { authorize, type Caller } from "@statehouse/authorization";
import { Problems, quoted } from "@statehouse/errors";
import type { App } from "../app.ts";
import { allowedRows, targetOf } from "../caller-app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { disallowedOverrides } from "../reserved-tag-key/domain.ts";
import { touch } from "../revision-domain.ts";
import type { Workspace } from "../workspace/domain.ts";
import { workspaceUpdated } from "../workspace/events-store.ts";
import { getReadablePlacement } from "../workspace-placement/app.ts";
import {
  changesTagBindings,
  checkTagBindingCount,
  checkTagBindings,
  checkTagNames,
  type EffectiveTagBinding,
  flatTagsOf,
  mergeTagBindings,
  type TagBinding,
  type TagBindingInput,
  tagKeysAfterBinding,
} from "./domain.ts";

/** Returns a workspace's own tag bindings, including flat tags, ordered by key. */
export async function listWorkspaceTagBindings(
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
): Promise<TagBinding[]> {
  await getReadablePlacement(app, caller, workspaceId);
  return app.reads.tagBindings.ofWorkspace(workspaceId);
}

/**
 * Returns a workspace's effective bindings: its own bindings, except those that were added as flat tags, and those that
 * it inherits from its project. A binding or flat tag of the workspace replaces the project's binding with the same
 * key.
 */
export async function listWorkspaceEffectiveTagBindings(
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
): Promise<EffectiveTagBinding[]> {
  await getReadablePlacement(app, caller, workspaceId);
  return app.reads.tagBindings.effectiveOfWorkspaces([workspaceId]);
}

/**
 * Returns the effective bindings of those workspaces among `workspaceIds` that the caller may read. Runs one SQL
 * statement.
 */
export const batchListWorkspaceEffectiveTagBindings = async (
  app: App,
  caller: Caller,
  workspaceIds: readonly string[],
): Promise<EffectiveTagBinding[]> =>
  allowedRows(
    caller,
    "workspace:read",
    await app.reads.tagBindings.effectiveOfWorkspaces(workspaceIds),
  );

/** The bindings of a request, and whether the request removes all other bindings except flat tags. */
export interface TagBindingChange {
  bindings: readonly TagBindingInput[];
  replacesAll: boolean;
}

/**
 * Adds or changes the bindings in the request and keeps all others, unless the request replaces all bindings; flat tags
 * are kept in any case. Returns the requested bindings in the order of the request.
 */
export const updateWorkspaceTagBindings = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  { bindings, replacesAll }: TagBindingChange,
): Promise<TagBinding[]> =>
  app.transaction(async (tx) => {
    const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
    authorize(caller, "workspace:update", targetOf(workspace));
    const current = await tx.tagBindings.ofWorkspace(workspaceId);
    const problems = new Problems();
    const kept = replacesAll ? flatTagsOf(current) : current;
    const tags = { current, ...checkedBindings(kept, bindings, problems) };
    await checkOverrides(tx, workspace, tags, problems);
    problems.throwIfAny();
    const now = await replaceWorkspaceTags(app, tx, workspace, tags);
    touch(workspace, app.now());
    await tx.record(workspaceUpdated(workspace));
    return bindings.flatMap(({ key }) => now.get(key) ?? []);
  });

/**
 * Adds a problem for each binding in `after` that differs from the project's binding although the key is reserved and
 * must not be overridden. Overrides that the workspace already has (`current`) remain allowed.
 */
export async function checkOverrides(
  tx: Tx,
  { projectId }: Workspace,
  { current, after }: Pick<TagChange, "current" | "after">,
  problems: Problems,
  path = "tagBindings",
): Promise<void> {
  if (after.size === 0) return;
  const fixed = await tx.reservedTagKeys.fixedBy(projectId, [...after.keys()]);
  for (const key of disallowedOverrides(current, after, fixed)) {
    problems.add(
      path,
      `Key ${quoted(key)} is reserved; the value of the project cannot be overridden.`,
    );
  }
}

/**
 * Replaces a workspace's bindings with `after`, and returns them by key. The calling function must have authorized the
 * caller.
 */
export async function replaceWorkspaceTags(
  app: App,
  tx: Tx,
  workspace: Workspace,
  { current, after, tagKeys }: TagChange,
): Promise<Map<string, TagBinding>> {
  const { id: workspaceId, organizationId } = workspace;
  if (changesTagBindings(current, after, tagKeys)) tx.noteChange(workspace, "tagBindings");
  const options = { now: app.now(), tagKeys };
  return tx.tagBindings.replace({ organizationId, workspaceId }, current, after, options);
}

interface TagChange {
  current: readonly TagBinding[];
  /** Maps each key to its value. */
  after: ReadonlyMap<string, string>;
  /** The keys of `after` that are flat tags. */
  tagKeys: ReadonlySet<string>;
}

/**
 * Combines the bindings that a workspace keeps with those of a request, which take precedence, and adds their problems
 * to `problems`.
 */
export function checkedBindings(
  kept: readonly TagBinding[],
  bindings: readonly TagBindingInput[],
  problems: Problems,
): Pick<TagChange, "after" | "tagKeys"> {
  checkTagBindings(bindings, problems);
  const after = mergeTagBindings(kept, bindings);
  checkTagBindingCount(after, problems);
  return { after, tagKeys: tagKeysAfterBinding(kept, bindings) };
}

/**
 * Combines the flat tags and bindings of a request into a map from key to value, and adds their problems to `problems`.
 * A binding takes precedence over a flat tag with the same key.
 */
export function checkedTags(
  input: {
    tagNames: readonly string[] | undefined;
    tagBindings: readonly TagBindingInput[] | undefined;
  },
  problems: Problems,
): Pick<TagChange, "after" | "tagKeys"> {
  const names = input.tagNames ?? [];
  const bindings = input.tagBindings ?? [];
  checkTagNames(names, problems, (index) => `tagNames[${index}]`);
  checkTagBindings(bindings, problems);
  const flat = names.map((key) => ({ key, value: "" }));
  const after = mergeTagBindings(flat, bindings);
  checkTagBindingCount(after, problems);
  return { after, tagKeys: new Set(names).difference(new Set(bindings.map(({ key }) => key))) };
}
