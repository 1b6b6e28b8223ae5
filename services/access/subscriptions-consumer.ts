import { deletedUsers } from "@statehouse/audit";
import type { Consumer } from "@statehouse/events";
import type { App } from "./app.ts";
import { runProjections } from "./run-token/consumer.ts";
import { grantProjections } from "./team-access/consumer.ts";

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
    deletedUsers({
      audit: app.audit,
      exists: async (id) => (await app.reads.users.find(id)) !== undefined,
    }),
  ];
};
