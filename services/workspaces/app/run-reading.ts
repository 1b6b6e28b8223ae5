import { type Caller, grantsOf } from "@statehouse/authorization";
import type { Workspace } from "../domain/workspace.ts";
import type { App } from "./app.ts";

/**
 * Whether the caller is a run of another workspace that this one admits as a consumer: it finds what it
 * reads by name, so it must be shown. Users, teams and organizations never gain anything by consumer sets.
 */
export async function mayShowAsConsumer(
  app: App,
  caller: Caller,
  { id, organizationId }: Pick<Workspace, "id" | "organizationId">,
): Promise<boolean> {
  const { principal, organizations } = grantsOf(caller);
  if (principal.type !== "run") return false;
  // A run's grants are on one workspace: its own.
  const [own] = organizations.get(organizationId)?.workspaces.keys() ?? [];
  if (own === undefined || own === id) return false;
  const readable = await app.reads.remoteStateConsumers.readableAs({
    runId: principal.id,
    consumerId: own,
    workspaceIds: [id],
  });
  return readable.length > 0;
}
