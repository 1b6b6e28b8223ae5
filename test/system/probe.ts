import type { Route } from "@statehouse/gateway/http/route";
import { newId } from "@statehouse/postgres/ids";
import { expect } from "vitest";
import type { Answer } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";

/**
 * For each kind of id in a body: the keys of `ObjectIds` whose values a probe sends instead of that id. The kind is the
 * resource type next to the id, or the attribute that contains the id.
 */
export const kinds: Record<string, readonly string[]> = {
  "agent-pool-id": ["agentPoolId"],
  "agent-pools": ["agentPoolId"],
  "authentication-tokens": ["tokenId"],
  "default-agent-pool-id": ["agentPoolId"],
  // Only the body that assigns an SSH key to a workspace has an attribute `id`: the id of the key.
  id: ["sshKeyId"],
  "organization-memberships": ["membershipId"],
  projects: ["projectId"],
  runs: ["runId"],
  "state-versions": ["stateVersionId"],
  tags: ["tagId"],
  teams: ["teamId"],
  users: ["userId", "username"],
  workspaces: ["workspaceId"],
};

/**
 * Every query parameter that the routes read, with the keys of `ObjectIds` whose values it can contain; empty if the
 * parameter names no object.
 */
export const parameters: Record<string, readonly string[]> = {
  "filter[admin]": [],
  "filter[allowed-projects][name]": ["projectName"],
  "filter[allowed-workspaces][name]": ["name"],
  "filter[allowed_projects][name]": ["projectName"],
  "filter[allowed_workspaces][name]": ["name"],
  "filter[current-run][status]": [],
  "filter[current_run][status]": [],
  "filter[edition]": [],
  "filter[email]": ["email"],
  "filter[exclude][taggable][id]": ["workspaceId"],
  "filter[expiry_status]": [],
  "filter[from]": [],
  "filter[locked]": [],
  "filter[names]": ["teamName", "projectName"],
  "filter[organization][name]": ["organizationName"],
  "filter[permissions][create-workspace]": [],
  "filter[permissions][update]": [],
  "filter[project][id]": ["projectId"],
  "filter[since]": ["stateVersionId"],
  "filter[status]": [],
  "filter[suspended]": [],
  "filter[tag-union]": [],
  "filter[tagged][0][key]": ["tagName"],
  "filter[tagged][0][value]": [],
  "filter[team]": ["teamId"],
  "filter[team][id]": ["teamId"],
  "filter[to]": [],
  "filter[user]": ["userId"],
  "filter[workspace][id]": ["workspaceId"],
  "filter[workspace][name]": ["name"],
  "q[email]": ["email"],
  "q[name]": ["username"],
  q: ["name", "projectName", "tagName", "teamName", "username", "email", "organizationName"],
  "search[exclude-tags]": ["tagName"],
  "search[exclude_tags]": ["tagName"],
  "search[name]": ["name"],
  "search[tags]": ["tagName"],
  "search[wildcard-name]": ["name"],
  show_only_configured: [],
  since: [],
  sort: [],
  token: [],
};

/** Returns the names of the query parameters that the route reads. */
export const parametersRead = ({ query }: Route): string[] =>
  Object.values(query).flatMap(({ parameters }) => parameters.map(({ name }) => name));

/**
 * Returns the keys of `parameters` that the route reads, with their values. A route cannot read others: it receives the
 * values of its declared parameters only.
 */
export const parametersToProbe = (route: Route): [string, readonly string[]][] => {
  const read = parametersRead(route);
  return Object.entries(parameters).filter(([parameter]) => read.includes(parameter));
};

/** Returns an unused id or name in the same form as `value`. */
export const absentLike = (value: string): string => {
  const prefix = /^([a-z]+)-[A-Za-z0-9]{16}$/.exec(value)?.[1];
  return prefix ? newId(prefix) : unusedName("nobody");
};

/** Attributes of a state version that get their values during extraction, shortly after the response. */
const knownLater =
  /"(resources-processed|state-version|(?:engine|terraform)-version|billable-rum-count|modules|providers)":(?:\w+|"[^"]*"|\{[^{}]*\})/g;

/** The last use of a token, which is written shortly after the call. */
const writtenLater = /"last-used-at":null/g;

/** Returns a response as text, without values that differ between calls and without the ids that were sent. */
export function plain({ status, body }: Answer, sent: readonly string[]): string {
  let text = JSON.stringify([status, body]);
  for (const value of sent) {
    text = text.replaceAll(encodeURIComponent(value), "<sent>").replaceAll(value, "<sent>");
  }
  if (status < 300) {
    text = text
      .replaceAll(/\b([a-z]{2,6})-[A-Za-z0-9]{16}\b/g, "$1-<new>")
      .replaceAll(
        /-[0-9a-f]{10}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
        "<new>",
      )
      .replaceAll(/sth_[\w-]{43}|\/v1\/object\/[\w.-]+/g, "<new>")
      .replaceAll(knownLater, '"$1":"<later>"')
      .replaceAll(writtenLater, '"last-used-at":"<time>"');
  }
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
}

/** A call with foreign values: ids or names of existing objects that the caller is not allowed to see. */
export interface Probe {
  what: string;
  foreign: readonly string[];
  /** Makes the call with these values instead of the foreign ones. */
  call: (values: readonly string[]) => Promise<Answer>;
}

/**
 * Makes the probe's call twice, once with foreign values and once with unused values, and expects equal responses. A
 * response may contain one of `secrets` only if the request contained it.
 */
export async function expectAlike(
  { what, foreign, call }: Probe,
  secrets: readonly string[] = [],
): Promise<void> {
  const absent = foreign.map(absentLike);
  const [known, unknown] = [await call(foreign), await call(absent)];
  const text = plain(known, foreign);
  expect(text, what).toBe(plain(unknown, absent));
  const leaked = secrets.filter((value) => text.includes(value));
  expect(leaked, `${what}: in the answer`).toEqual([]);
}

/** Returns a body that violates many validation rules, to detect a rule that is checked before the permission. */
export function unacceptable(body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("data" in body)) return body;
  const { data } = body;
  if (typeof data !== "object" || data === null || !("attributes" in data)) return body;
  const attributes = Object.fromEntries(
    Object.entries(data.attributes ?? {}).map(([name, value]) => [
      name,
      typeof value === "string" ? "ø /?" : value,
    ]),
  );
  return { ...body, data: { ...data, attributes: { ...attributes, name: "ø /?", access: "ø" } } };
}
