import { notFound } from "@statehouse/errors";

export type UserId = `user-${string}`;
export type TokenId = `at-${string}`;
export type TeamId = `team-${string}`;
/** Of access to a project or to a workspace. */
export type TeamAccessId = `tprj-${string}` | `tws-${string}`;
export type OrganizationMembershipId = `ou-${string}`;
/** Made by workspaces; immutable and never a name. */
export type OrganizationId = string;
/** Made by workspaces. */
export type ProjectId = string;
/** Made by workspaces. */
export type WorkspaceId = `ws-${string}`;
/** Made by runners. */
export type RunId = `run-${string}`;
export type RunTokenId = `at-${string}`;

const FORM = /^[A-Za-z0-9]{16}$/;

const hasForm = <Prefix extends string>(
  prefix: Prefix,
  text: string,
): text is `${Prefix}-${string}` =>
  text.startsWith(`${prefix}-`) && FORM.test(text.slice(prefix.length + 1));

/** Whether a text has the form of a user's id. */
export const isUserId = (text: string): text is UserId => hasForm("user", text);

/** Reads an id from outside. What does not look like one cannot exist: throws `notFound`. */
const reader =
  <Prefix extends string>(prefix: Prefix, what: string) =>
  (text: string): `${Prefix}-${string}` => {
    if (!hasForm(prefix, text)) throw notFound(what);
    return text;
  };

export const readUserId = reader("user", "user");
export const readRunTokenId = reader("at", "token");
export const readRunId = reader("run", "run");
export const readWorkspaceId = reader("ws", "workspace");
export const readTokenId = reader("at", "token");
export const readTeamId = reader("team", "team");

export function readTeamAccessId(text: string): TeamAccessId {
  if (!hasForm("tprj", text) && !hasForm("tws", text)) throw notFound("team access");
  return text;
}

export const readMembershipId = reader("ou", "organization membership");

/** Those of a batch that can exist, each once. */
const batchReader =
  <Prefix extends string>(prefix: Prefix) =>
  (texts: readonly string[]): `${Prefix}-${string}`[] => [
    ...new Set(texts.filter((text) => hasForm(prefix, text))),
  ];

export const readUserIds = batchReader("user");
export const readTeamIds = batchReader("team");
export const readMembershipIds = batchReader("ou");
