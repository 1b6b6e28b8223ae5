import type { Consumer } from "@statehouse/events";
import type { App } from "../app/app.ts";
import { deletedUserProjection } from "./deleted-user.ts";
import { grantProjections } from "./grants.ts";
import { runProjections } from "./run.ts";

/** The event subscriptions of the access service. */
export const consumers = (app: App): Consumer[] => {
  const runs = runProjections(app);
  return [
    {
      name: "grants",
      filter: "statehouse.workspaces.*.deleted.>",
      projections: grantProjections(app),
    },
    { name: "ended-runs", filter: "statehouse.workspaces.run.ended.>", projections: runs },
    {
      name: "runs-of-deleted-workspaces",
      filter: "statehouse.workspaces.workspace.deleted.>",
      projections: runs,
    },
    {
      name: "deleted-users",
      filter: "statehouse.access.user.deleted.>",
      projections: [deletedUserProjection(app)],
    },
  ];
};
