import { document, linkage } from "./http.ts";

/** Returns the body of the request that gives a team access to a project, by default at the level `read`. */
export const projectAccess = (
  teamId: string | undefined,
  projectId: string | undefined,
  attributes: Record<string, unknown> = { access: "read" },
) =>
  document("team-projects", attributes, {
    team: linkage("teams", teamId),
    project: linkage("projects", projectId),
  });

/** Returns the body of the request that gives a team access to a workspace. */
export const workspaceAccess = (
  teamId: string | undefined,
  workspaceId: string | undefined,
  attributes: Record<string, unknown> = { access: "read" },
) =>
  document("team-workspaces", attributes, {
    team: linkage("teams", teamId),
    workspace: linkage("workspaces", workspaceId),
  });
