import { authorize, type Caller } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import type { PageInput } from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import type { Page } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { targetOf } from "../caller-app.ts";
import type { SshKeyId, WorkspaceId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { getOrganization } from "../organization/app.ts";
import { touch } from "../revision-domain.ts";
import { type WorkspaceDocument, workspaceDocument } from "../workspace/document-app.ts";
import { workspaceUpdated } from "../workspace/events-store.ts";
import {
  applySshKey,
  newSshKey,
  type SshKey,
  type SshKeyInput,
  sshKeyLocation,
  sshKeyNotFound,
} from "./domain.ts";
import { type SshKeyView, sshKeyCreated, sshKeyDeleted, sshKeyUpdated } from "./store.ts";

/** Throws `notFound`, `forbidden`, or `invalid` with all problems of the request. */
export const createSshKey = (
  app: App,
  caller: Caller,
  { organizationName, ...input }: SshKeyInput & { organizationName: string },
): Promise<SshKeyView> =>
  app.transaction(async (tx) => {
    const { id: organizationId } = await tx.organizations.getByName(organizationName);
    authorize(caller, "organization:manage-ssh-keys", { organizationId }, "organization");
    const sshKey = newSshKey(newId("sshkey"), organizationId, app.now());
    await apply(app, tx, sshKey, input);
    await tx.record(sshKeyCreated(sshKey));
    return sshKey;
  });

/** Returns an SSH key. Throws `notFound` if it does not exist or the caller does not belong to its organization. */
export async function getSshKey(app: App, caller: Caller, id: SshKeyId): Promise<SshKeyView> {
  const sshKey = await app.reads.sshKeys.find(id);
  if (!sshKey) throw sshKeyNotFound();
  authorize(caller, "organization:read", sshKey, "SSH key");
  return sshKey;
}

/**
 * Returns the organization's SSH keys, ordered by name. Throws `notFound` if the caller does not belong to the
 * organization.
 */
export async function listSshKeys(
  app: App,
  caller: Caller,
  { organizationName, page }: { organizationName: string; page: PageInput },
): Promise<Page<SshKeyView>> {
  const { id } = await getOrganization(app, caller, organizationName);
  return app.reads.sshKeys.page(id, page);
}

/** Changes the fields in the request; absent fields keep their value. */
export const updateSshKey = (
  app: App,
  caller: Caller,
  { id, ...input }: SshKeyInput & { id: SshKeyId },
): Promise<SshKeyView> =>
  app.transaction(async (tx) => {
    const sshKey = await tx.sshKeys.getForUpdate(id);
    authorize(caller, "organization:manage-ssh-keys", sshKey, "SSH key");
    await apply(app, tx, sshKey, input);
    await tx.record(sshKeyUpdated(sshKey));
    return sshKey;
  });

/** Deletes an SSH key. Workspaces that used it then have no key. */
export const deleteSshKey = (app: App, caller: Caller, id: SshKeyId): Promise<void> =>
  app.transaction(async (tx) => {
    const sshKey = await tx.sshKeys.getForUpdate(id);
    authorize(caller, "organization:manage-ssh-keys", sshKey, "SSH key");
    sshKey.revision = nextVersion(sshKey.revision, app.now());
    await tx.record(sshKeyDeleted(sshKey));
    tx.sshKeys.remove(sshKey);
  });

/**
 * Assigns an SSH key of the workspace's organization to the workspace; null removes the assigned key. Throws `notFound`
 * if the workspace or the key is unknown.
 */
export async function assignSshKey(
  app: App,
  caller: Caller,
  { workspaceId, sshKeyId }: { workspaceId: WorkspaceId; sshKeyId: SshKeyId | null },
): Promise<WorkspaceDocument> {
  const view = await app.transaction(async (tx) => {
    const workspace = await tx.workspaces.getForUpdate({ id: workspaceId });
    authorize(caller, "workspace:update", targetOf(workspace));
    if (sshKeyId) {
      const { organizationId } = await tx.sshKeys.getForShare(sshKeyId);
      if (organizationId !== workspace.organizationId) throw sshKeyNotFound();
    }
    workspace.sshKeyId = sshKeyId;
    touch(workspace, app.now());
    await tx.record(workspaceUpdated(workspace));
    return tx.workspaces.commit(workspace);
  });
  return workspaceDocument(app, caller, view);
}

async function apply(app: App, tx: Tx, sshKey: SshKey, input: SshKeyInput): Promise<void> {
  const problems = new Problems();
  const encryptColumn = (value: string) =>
    app.cipher.encryptColumn(value, sshKeyLocation(sshKey.id));
  applySshKey(sshKey, input, { encryptColumn, problems, now: app.now() });
  problems.throwIfAny();
  tx.sshKeys.save(sshKey);
}
