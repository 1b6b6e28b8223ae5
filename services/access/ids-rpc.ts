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
import type {
  OrganizationId,
  OrganizationMembershipId,
  ProjectId,
  RunId,
  RunTokenId,
  TeamAccessId,
  TeamId,
  TokenId,
  UserId,
  WorkspaceId,
} from "./ids-domain.ts";

// Each function throws `notFound` if a string does not have the form of an id: such a string cannot identify a row.

export function userId(text: string): UserId {
  if (!isId("user", text)) throw userNotFound();
  return text;
}

export function tokenId(text: string): TokenId {
  if (!isId("at", text)) throw tokenNotFound();
  return text;
}

export function runTokenId(text: string): RunTokenId {
  if (!isId("at", text)) throw tokenNotFound();
  return text;
}

export function teamId(text: string): TeamId {
  if (!isId("team", text)) throw teamNotFound();
  return text;
}

export function teamAccessId(text: string): TeamAccessId {
  if (!isId("tprj", text) && !isId("tws", text)) throw teamAccessNotFound();
  return text;
}

export function organizationMembershipId(text: string): OrganizationMembershipId {
  if (!isId("ou", text)) throw organizationMembershipNotFound();
  return text;
}

export function organizationId(text: string): OrganizationId {
  if (!isId("org", text)) throw organizationNotFound();
  return text;
}

export function projectId(text: string): ProjectId {
  if (!isId("prj", text)) throw projectNotFound();
  return text;
}

export function workspaceId(text: string): WorkspaceId {
  if (!isId("ws", text)) throw workspaceNotFound();
  return text;
}

export function runId(text: string): RunId {
  if (!isId("run", text)) throw runNotFound();
  return text;
}

/** Returns the distinct ids of a batch; strings that are not ids are omitted. */
const idsOf =
  <Prefix extends string>(prefix: Prefix) =>
  (texts: readonly string[]): `${Prefix}-${string}`[] => [
    ...new Set(texts.filter((text) => isId(prefix, text))),
  ];

export const userIds = idsOf("user");
export const teamIds = idsOf("team");
export const organizationMembershipIds = idsOf("ou");
