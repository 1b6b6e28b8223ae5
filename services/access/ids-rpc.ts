import {
  organizationMembershipNotFound,
  organizationNotFound,
  projectNotFound,
  runNotFound,
  teamAccessNotFound,
  teamNotFound,
  tokenNotFound,
  userNotFound,
  workspaceNotFound,
} from "./errors-domain.ts";
import { idParser } from "./ids-domain.ts";

export const userId = idParser("user", userNotFound);
/** Also checks the ids of run tokens. */
export const tokenId = idParser("at", tokenNotFound);
export const teamId = idParser("team", teamNotFound);
export const organizationMembershipId = idParser("ou", organizationMembershipNotFound);
export const organizationId = idParser("org", organizationNotFound);
export const projectId = idParser("prj", projectNotFound);
/** Ids of teams' access to projects and workspaces. */
export const teamProjectId = idParser("tprj", teamAccessNotFound);
export const teamWorkspaceId = idParser("tws", teamAccessNotFound);
export const workspaceId = idParser("ws", workspaceNotFound);
export const runId = idParser("run", runNotFound);
