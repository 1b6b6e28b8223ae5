import { allowed, authorize, type Caller, grantsOf } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import type { PageInput } from "@statehouse/postgres";
import type { App } from "../app.ts";
import { readScopeOf, targetOf } from "../caller-app.ts";
import type { WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { touch } from "../revision-domain.ts";
import { getWorkspace } from "../workspace/app.ts";
import { type WorkspaceDocument, workspaceDocuments } from "../workspace/document-app.ts";
import type { Workspace } from "../workspace/domain.ts";
import { workspaceUpdated } from "../workspace/events-store.ts";
import { checkConsumers, requireApprovedConsumers } from "./domain.ts";
import type { ConsumerQuestion } from "./store.ts";

/**
 * Returns a page of the consumers of the workspace's state, ordered by name; consumers that the caller cannot read are
 * omitted. With `approvedOnly`, returns only approved consumers, even if the state is shared with the whole
 * organization or project. Throws `notFound`.
 */
export async function listRemoteStateConsumers(
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  { approvedOnly, page }: { approvedOnly: boolean; page: PageInput },
): Promise<{ workspaces: WorkspaceDocument[]; total: number }> {
  const producer = await getWorkspace(app, caller, { id: workspaceId });
  const readable = readScopeOf(caller, "workspace:read");
  const shared = approvedOnly ? { globalRemoteState: false, projectRemoteState: false } : {};
  const { rows, total } = await app.reads.remoteStateConsumers.list(
    { ...producer, ...shared },
    readable,
    page,
  );
  return { workspaces: await workspaceDocuments(app, caller, rows), total };
}

/** Replaces the set of consumers. Throws `notFound`, `forbidden`, or `invalid` with all problems of the request. */
export const replaceRemoteStateConsumers = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  ids: readonly WorkspaceId[],
): Promise<void> =>
  change(app, caller, workspaceId, async (tx, workspace) => {
    const { organizationId } = workspace;
    authorize(caller, "organization:manage-workspaces", { organizationId });
    await requireEligible(tx, caller, workspace, ids);
    await tx.remoteStateConsumers.replace(workspaceId, ids);
  });

/**
 * Adds workspaces to the set of consumers. Throws `notFound`, `forbidden`, or `invalid` with all problems of the
 * request.
 */
export const addRemoteStateConsumers = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  ids: readonly WorkspaceId[],
): Promise<void> =>
  change(app, caller, workspaceId, async (tx, workspace) => {
    await requireEligible(tx, caller, workspace, ids);
    await tx.remoteStateConsumers.add(workspaceId, ids);
  });

/**
 * Removes workspaces from the set of consumers. Ids that are not in the set, such as those of deleted workspaces, are
 * ignored. Throws `notFound` or `forbidden`, and `invalid` for the workspace's own id and for consumers that the caller
 * cannot read.
 */
export const removeRemoteStateConsumers = (
  app: App,
  caller: Caller,
  workspaceId: WorkspaceId,
  ids: readonly WorkspaceId[],
): Promise<void> =>
  change(app, caller, workspaceId, async (tx, workspace) => {
    const current = await tx.remoteStateConsumers.of(workspaceId);
    await requireEligible(tx, caller, workspace, ids, (id) => current.has(id));
    await tx.remoteStateConsumers.remove(workspaceId, ids);
  });

/** Called by the state service: returns the requested workspaces whose state the run may read. */
export const mayReadAsConsumer = (app: App, question: ConsumerQuestion): Promise<WorkspaceId[]> =>
  app.reads.remoteStateConsumers.readableAs(question);

const change = (
  app: App,
  caller: Caller,
  id: WorkspaceId,
  work: (tx: Tx, workspace: Workspace) => Promise<void>,
): Promise<void> =>
  app.transaction(async (tx) => {
    const workspace = await tx.workspaces.getForUpdate({ id });
    authorize(caller, "workspace:update", targetOf(workspace));
    requireApprovedConsumers(workspace);
    await work(tx, workspace);
    tx.noteChange(workspace, "remoteStateConsumers");
    touch(workspace, app.now());
    await tx.record(workspaceUpdated(workspace));
  });

/**
 * Throws `invalid` with a problem for each of `ids` that cannot be a consumer. Ids for which `matters` returns false
 * would not change the set of consumers; they are accepted, except the workspace's own id.
 */
async function requireEligible(
  tx: Tx,
  caller: Caller,
  workspace: Workspace,
  ids: readonly WorkspaceId[],
  matters: (id: WorkspaceId) => boolean = () => true,
): Promise<void> {
  const grants = grantsOf(caller);
  const candidates = await tx.remoteStateConsumers.candidates(workspace.organizationId, ids);
  const readable = candidates.filter((one) => allowed(grants, "workspace:read", targetOf(one)));
  const eligible = new Set([...readable.map(({ id }) => id), ...ids.filter((id) => !matters(id))]);
  const problems = new Problems();
  checkConsumers(workspace, ids, eligible, problems);
  problems.throwIfAny();
}
