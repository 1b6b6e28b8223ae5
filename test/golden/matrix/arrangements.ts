import type { Answer } from "../../stack/http.ts";
import { make } from "./site.ts";
import type { Stage } from "./stage.ts";

/** The organization has a token. */
export async function organizationToken({ site: { owner, organization } }: Stage): Promise<void> {
  const path = `/organizations/${organization}/authentication-token`;
  const { status } = await owner.api.get(path);
  if (status === 404) await make(owner.api, path, "authentication-tokens", {});
}

const lockPath = ({ estate }: Stage, action: string) =>
  `/workspaces/${estate.workspaceId}/actions/${action}`;

/** The older version's contents are soft-deleted. */
export async function softDeleted({ site: { owner }, estate }: Stage): Promise<void> {
  const path = `/state-versions/${estate.oldStateVersionId}/actions/soft_delete_backing_data`;
  await owner.api.post(path);
}

/** Ensures that the workspace is not locked. */
export async function unlocked(stage: Stage): Promise<void> {
  const { status } = await stage.site.owner.api.post(lockPath(stage, "force-unlock"));
  if (status !== 200 && status !== 409 && status !== 401)
    throw new Error(`not unlocked: ${status}`);
}

/** The site's owner holds the lock. */
export async function lockedByOther(stage: Stage): Promise<void> {
  await unlocked(stage);
  await stage.site.owner.api.post(lockPath(stage, "lock"));
}

/** The caller holds the lock if it can take it; returns whether it does. */
export async function lockedByCaller(stage: Stage): Promise<boolean> {
  await unlocked(stage);
  if (stage.caller.lock) {
    await stage.caller.lock();
    return true;
  }
  const { status }: Answer = await stage.caller.api.post(lockPath(stage, "lock"));
  if (status === 200) return true;
  await stage.site.owner.api.post(lockPath(stage, "lock"));
  return false;
}
