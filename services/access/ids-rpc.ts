import type { AppError } from "@statehouse/errors";
import { isId } from "@statehouse/postgres/ids";
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

/**
 * Creates the function that checks the form of an id. It throws the error that `missing` creates if a string does not
 * have the form of an id: such a string cannot identify a row.
 */
const idParser =
  <Prefix extends string>(prefix: Prefix, missing: () => AppError) =>
  (text: string): `${Prefix}-${string}` => {
    if (!isId(prefix, text)) throw missing();
    return text;
  };

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
