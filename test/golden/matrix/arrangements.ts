import type { Answer } from "../../stack/http.ts";
import { make } from "./fixture.ts";
import type { PreparedCaller } from "./prepared-caller.ts";

/** Creates the organization's token, unless it exists. */
export async function organizationToken({
  fixture: { owner, organization },
}: PreparedCaller): Promise<void> {
  const path = `/organizations/${organization}/authentication-token`;
  const { status } = await owner.api.get(path);
  if (status === 404) await make(owner.api, path, "authentication-tokens", {});
}

const lockPath = ({ objects }: PreparedCaller, action: string) =>
  `/workspaces/${objects.workspaceId}/actions/${action}`;

/** Soft-deletes the backing data of the caller's older state version. */
export async function softDeleted({ fixture: { owner }, objects }: PreparedCaller): Promise<void> {
  const path = `/state-versions/${objects.oldStateVersionId}/actions/soft_delete_backing_data`;
  await owner.api.post(path);
}

/** Ensures that the caller's workspace is not locked. */
export async function unlocked(prepared: PreparedCaller): Promise<void> {
  const { status } = await prepared.fixture.owner.api.post(lockPath(prepared, "force-unlock"));
  if (status !== 200 && status !== 409 && status !== 401)
    throw new Error(`the workspace could not be unlocked: ${status}`);
}

/** Makes the fixture's owner lock the workspace. */
export async function lockedByOther(prepared: PreparedCaller): Promise<void> {
  await unlocked(prepared);
  await prepared.fixture.owner.api.post(lockPath(prepared, "lock"));
}

/**
 * Locks the workspace as the caller and returns true. If the caller is not allowed to lock, locks the workspace as the
 * fixture's owner and returns false.
 */
export async function lockedByCaller(prepared: PreparedCaller): Promise<boolean> {
  await unlocked(prepared);
  if (prepared.caller.lock) {
    await prepared.caller.lock();
    return true;
  }
  const { status }: Answer = await prepared.caller.api.post(lockPath(prepared, "lock"));
  if (status === 200) return true;
  await prepared.fixture.owner.api.post(lockPath(prepared, "lock"));
  return false;
}
