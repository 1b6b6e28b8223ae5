import { deletedUsers } from "@statehouse/audit";
import type { Consumer } from "@statehouse/events";
import type { App } from "./app.ts";
import { organizationProjection } from "./organization-billing/consumer.ts";
import { workspaceProjection } from "./workspace-placement/consumer.ts";

/** The events that the state service consumes. */
export const consumers = (app: App): Consumer[] => {
  const projections = [workspaceProjection(app), organizationProjection(app)];
  return [
    { name: "updated", filter: "statehouse.workspaces.*.updated.>", projections },
    { name: "deleted", filter: "statehouse.workspaces.*.deleted.>", projections },
    deletedUsers({
      audit: app.audit,
      exists: (id) => app.access.userExists(id),
    }),
  ];
};
