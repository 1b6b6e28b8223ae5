import { isId } from "@statehouse/postgres/ids";

// Ids as rows and events carry them: a prefix and letters and digits, never reused.

export type UserId = `user-${string}`;
export type TokenId = `at-${string}`;
export type TeamId = `team-${string}`;
/** Of access to a project or to a workspace. */
export type TeamAccessId = `tprj-${string}` | `tws-${string}`;
export type OrganizationMembershipId = `ou-${string}`;
export type RunTokenId = `at-${string}`;
/** Made by the workspaces service; immutable and never a name. */
export type OrganizationId = `org-${string}`;
/** Made by the workspaces service. */
export type ProjectId = `prj-${string}`;
/** Made by the workspaces service. */
export type WorkspaceId = `ws-${string}`;
/** Created by runners. */
export type RunId = `run-${string}`;

const USER_ID_LENGTH = "user-".length + 16;

/** True when `text` is a user's id and cannot be a username: members are named by either. */
export const isUserId = (text: string): text is UserId =>
  isId("user", text) && text.length === USER_ID_LENGTH;
