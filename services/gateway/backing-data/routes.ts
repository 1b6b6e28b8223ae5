import { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import { one } from "../http/rendering.ts";
import { type Route, type RouteInput, route } from "../http/route.ts";
import { withRunIfReported } from "../run/reported-resource.ts";
import { stateVersionResource } from "../state-version/resource.ts";

type Action = "softDeleteBackingData" | "restoreBackingData" | "permanentlyDeleteBackingData";

/** Declares the route of one action on backing data. The routes differ only in their names. */
const action = <Name extends string>(name: Name, method: Action, summary: string): Route =>
  route({
    method: "POST",
    path: `/state-versions/:stateVersionId/actions/${name}`,
    summary,
    success: [200, one(stateVersionResource, "stateVersion")],
    failures: [400, 404],
    credentials: ["user", "team"],
    edition: "state-versions.backing-data-actions",
    handle: async ({ client, runs, params, caller }: RouteInput<"/:stateVersionId", unknown>) =>
      withRunIfReported(await client(BackingDataService)[method](params, caller), { runs }),
  });

export const backingDataRoutes: readonly Route[] = [
  action(
    "soft_delete_backing_data",
    "softDeleteBackingData",
    "Soft-delete a state version's data, so that it can be restored",
  ),
  action(
    "restore_backing_data",
    "restoreBackingData",
    "Restore a state version's soft-deleted data",
  ),
  action(
    "permanently_delete_backing_data",
    "permanentlyDeleteBackingData",
    "Permanently delete a state version's soft-deleted data",
  ),
];
