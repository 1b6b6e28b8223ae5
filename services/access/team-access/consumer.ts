import { hint, type Projection, projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import {
  ProjectDeletedSchema,
  WorkspaceDeletedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app.ts";
import { deleteTeamAccessOfDeleted } from "./app.ts";

/**
 * Deletes the grants on projects and workspaces that were deleted. Before their deletion, these grants have no effect
 * either, because ids are never reused.
 */
export const grantProjections = (app: App): Projection[] => [
  projection({
    hints: hint(ProjectDeletedSchema, ({ projectId }) => parseId("prj", projectId)),
    refresh: (ids) => deleteTeamAccessOfDeleted(app, ids, app.workspaces.listDeletedProjects),
  }),
  projection({
    hints: hint(WorkspaceDeletedSchema, ({ workspaceId }) => parseId("ws", workspaceId)),
    refresh: (ids) => deleteTeamAccessOfDeleted(app, ids, app.workspaces.listDeletedWorkspaces),
  }),
];
