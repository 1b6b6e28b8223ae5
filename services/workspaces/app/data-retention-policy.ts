import { authorize, type Caller, requireAdministrator } from "@statehouse/authorization";
import {
  applyDataRetention,
  type DataRetentionInput,
  type DataRetentionOwner,
  type DataRetentionPolicyView,
  newDataRetentionPolicy,
  type WorkspaceRetention,
} from "../domain/data-retention-policy.ts";
import { noSuchDataRetentionPolicy, noSuchWorkspace } from "../domain/errors.ts";
import type { WorkspaceId } from "../domain/ids.ts";
import { Problems } from "../domain/problems.ts";
import type { Tx } from "../store/transaction.ts";
import type { App } from "./app.ts";
import { targetOf } from "./caller.ts";
import { getOrganization } from "./organization.ts";

/** How a request says whose policy. */
export type DataRetentionTarget =
  | { workspaceId: WorkspaceId }
  | { organizationName: string }
  | "site";

/** Its own, else what it falls back to. Throws `notFound` without any. */
export async function getDataRetentionPolicy(
  app: App,
  caller: Caller,
  target: DataRetentionTarget,
): Promise<DataRetentionPolicyView> {
  const [organizationId, workspaceId] = await readableTarget(app, caller, target);
  const policy = await app.reads.dataRetentionPolicies.effective(organizationId, workspaceId);
  if (!policy) throw noSuchDataRetentionPolicy();
  return policy;
}

/** Makes its own policy or replaces it; with `onlyChange` it must have one. */
export const setDataRetentionPolicy = (
  app: App,
  caller: Caller,
  target: DataRetentionTarget,
  { onlyChange, ...wanted }: DataRetentionInput & { onlyChange: boolean },
): Promise<DataRetentionPolicyView> =>
  app.transaction(async (tx) => {
    const owner = await changeableTarget(tx, caller, target);
    const found = await tx.dataRetentionPolicies.findForUpdate(owner);
    if (!found && onlyChange) throw noSuchDataRetentionPolicy();
    const policy = found ?? newDataRetentionPolicy(app.newId("drp"), owner, app.now());
    const problems = new Problems();
    applyDataRetention(policy, wanted, { problems, now: app.now() });
    problems.throwIfAny();
    await tx.dataRetentionPolicies.save(policy);
    await tx.record({ type: "dataRetentionPolicySet", policy });
    return policy;
  });

/** Takes its own policy away, if it has one. */
export const deleteDataRetentionPolicy = (
  app: App,
  caller: Caller,
  target: DataRetentionTarget,
): Promise<void> =>
  app.transaction(async (tx) => {
    const owner = await changeableTarget(tx, caller, target);
    const policy = await tx.dataRetentionPolicies.findForUpdate(owner);
    if (!policy) return;
    await tx.record({ type: "dataRetentionPolicyDeleted", policy });
    await tx.dataRetentionPolicies.remove(policy);
  });

/** For state: what counts for each of the workspaces. */
export const batchGetRetention = (
  app: App,
  workspaceIds: readonly string[],
): Promise<WorkspaceRetention[]> => app.reads.dataRetentionPolicies.ofWorkspaces(workspaceIds);

async function readableTarget(
  app: App,
  caller: Caller,
  target: DataRetentionTarget,
): Promise<[organizationId: string | null, workspaceId: string | null]> {
  if (target === "site") {
    requireAdministrator(caller);
    return [null, null];
  }
  if ("organizationName" in target) {
    return [(await getOrganization(app, caller, target.organizationName)).id, null];
  }
  const found = await app.reads.workspaces.lockAndPlacement(target.workspaceId);
  if (!found) throw noSuchWorkspace();
  authorize(caller, "workspace:read", found.placement);
  return [found.placement.organizationId, target.workspaceId];
}

/** The target's row stays locked until the transaction ends. */
async function changeableTarget(
  tx: Tx,
  caller: Caller,
  target: DataRetentionTarget,
): Promise<DataRetentionOwner> {
  if (target === "site") {
    requireAdministrator(caller);
    return target;
  }
  if ("organizationName" in target) {
    const { id } = await tx.organizations.getByNameForUpdate(target.organizationName);
    authorize(caller, "organization:update", { organizationId: id });
    return { organizationId: id };
  }
  const workspace = await tx.workspaces.getForUpdate({ id: target.workspaceId });
  authorize(caller, "workspace:update", targetOf(workspace));
  return { workspaceId: workspace.id };
}
