import { authorize, type Caller, requireAdministrator } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import type { App } from "../app.ts";
import { targetOf } from "../caller-app.ts";
import type { OrganizationId, WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { getOrganization } from "../organization/app.ts";
import { getReadablePlacement } from "../workspace-placement/app.ts";
import {
  applyDataRetention,
  type DataRetentionInput,
  type DataRetentionOwner,
  dataRetentionPolicyNotFound,
  newDataRetentionPolicy,
  type OwnedDataRetentionPolicy,
  type WorkspaceRetention,
} from "./domain.ts";
import { dataRetentionPolicyDeleted, dataRetentionPolicySet } from "./store.ts";

/** The owner of a retention policy in a request: a workspace, an organization or the installation (`site`). */
export type DataRetentionTarget =
  | { workspaceId: WorkspaceId }
  | { organizationName: string }
  | "site";

/**
 * Returns the target's own policy or, if it has none, the policy that it inherits. Throws `notFound` if neither exists.
 */
export async function getDataRetentionPolicy(
  app: App,
  caller: Caller,
  target: DataRetentionTarget,
): Promise<OwnedDataRetentionPolicy> {
  const [organizationId, workspaceId] = await readableTarget(app, caller, target);
  const policy = await app.reads.dataRetentionPolicies.effective(organizationId, workspaceId);
  if (!policy) throw dataRetentionPolicyNotFound();
  return policy;
}

/**
 * Creates or replaces the target's own policy. Throws `unavailable` if the state service has not confirmed the change;
 * the policy is then already stored, and a repeat of the request completes the change.
 */
export const setDataRetentionPolicy = (
  app: App,
  caller: Caller,
  target: DataRetentionTarget,
  input: DataRetentionInput,
): Promise<OwnedDataRetentionPolicy> =>
  changeRetention(app, async (tx) => {
    const { owner, organizationId } = await changeableTarget(tx, caller, target);
    const found = await tx.dataRetentionPolicies.findForUpdate(owner);
    const policy = found ?? newDataRetentionPolicy(newId("drp"), owner, app.now());
    const problems = new Problems();
    applyDataRetention(policy, input, { problems, now: app.now() });
    problems.throwIfAny();
    tx.dataRetentionPolicies.save(policy);
    await tx.record(dataRetentionPolicySet({ ...policy, organizationId }));
    const organizationName =
      target !== "site" && "organizationName" in target ? target.organizationName : null;
    return { ...policy, organizationName };
  });

/**
 * Deletes the target's own policy, if it has one. Throws `unavailable` if the state service has not confirmed the
 * change; the policy is then already deleted, and a repeat of the request completes the change.
 */
export const deleteDataRetentionPolicy = (
  app: App,
  caller: Caller,
  target: DataRetentionTarget,
): Promise<void> =>
  changeRetention(app, async (tx) => {
    const { owner, organizationId } = await changeableTarget(tx, caller, target);
    const policy = await tx.dataRetentionPolicies.findForUpdate(owner);
    if (!policy) return;
    policy.revision = nextVersion(policy.revision, app.now());
    await tx.record(dataRetentionPolicyDeleted({ ...policy, organizationId }));
    tx.dataRetentionPolicies.remove(policy);
  });

/**
 * Runs `change`, which changes policies or plans, and returns after the state service has confirmed the new retention
 * version. From then on, that service no longer deletes anything on the basis of an earlier retention version. The
 * service is called even if nothing changed, so that a repeated request completes a change that was interrupted after
 * its commit.
 */
export async function changeRetention<T>(app: App, change: (tx: Tx) => Promise<T>): Promise<T> {
  const [result, version] = await app.transaction(async (tx) => {
    const changed = await change(tx);
    return [changed, await tx.dataRetentionPolicies.nextVersion(app.now())] as const;
  });
  await app.state.raiseRetentionVersion(version);
  return result;
}

/** Called by the state service: returns the retention of each of the workspaces, and the current retention version. */
export const batchGetRetention = (
  app: App,
  workspaceIds: readonly string[],
): Promise<{ retentions: WorkspaceRetention[]; version: bigint }> =>
  app.reads.dataRetentionPolicies.ofWorkspaces(workspaceIds);

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
  const { organizationId, workspaceId } = await getReadablePlacement(
    app,
    caller,
    target.workspaceId,
  );
  return [organizationId, workspaceId];
}

/**
 * Locks the row of the target workspace or organization until the transaction ends, and authorizes the caller. Returns
 * the owner of the policy and the owner's organization, which is null for the installation.
 */
async function changeableTarget(
  tx: Tx,
  caller: Caller,
  target: DataRetentionTarget,
): Promise<{ owner: DataRetentionOwner; organizationId: OrganizationId | null }> {
  if (target === "site") {
    requireAdministrator(caller);
    return { owner: target, organizationId: null };
  }
  if ("organizationName" in target) {
    const { id } = await tx.organizations.getByNameForUpdate(target.organizationName);
    authorize(caller, "organization:update", { organizationId: id });
    return { owner: { organizationId: id }, organizationId: id };
  }
  const workspace = await tx.workspaces.getForUpdate({ id: target.workspaceId });
  authorize(caller, "workspace:update", targetOf(workspace));
  const { id, organizationId } = workspace;
  return { owner: { workspaceId: id }, organizationId };
}
