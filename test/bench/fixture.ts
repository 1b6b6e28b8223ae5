import type { Api } from "../stack/http.ts";
import { newOrganization, organizationId } from "../stack/organization.ts";
import type { Stack } from "../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { callerOf } from "./caller.ts";
import type { Counted } from "./processes.ts";
import { seed } from "./seed.ts";

/** A stack with users and workspaces for the sections. */
export interface BenchFixture {
  name: string;
  origin: string;
  /** Request headers of the user who owns the organization. */
  headers: Record<string, string>;
  /** Request headers of other users, one for each connection. They have all permissions on the workspaces. */
  people: readonly Record<string, string>[];
  api: Api;
  organization: string;
  /** Ids of the workspaces, one for each connection; each workspace has a state. */
  workspaceIds: readonly string[];
  /** The processes whose CPU time is counted. */
  processes: readonly Counted[];
}

/** Number of workspaces in the organization, including one for each connection. */
export const WORKSPACES = 10_000;

/**
 * Fills a stack: creates a user, an organization and `connections` workspaces through the API, and the other workspaces
 * by SQL.
 */
export async function openFixture(
  stack: Stack,
  { name, connections, processes }: { name: string; connections: number; processes: Counted[] },
): Promise<BenchFixture> {
  const owner = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(owner.api);
  const workspaceIds: string[] = [];
  for (let index = 0; index < connections; index++) {
    const { id } = await newWorkspaceIn(owner.api, organization, { name: `own-${index}` });
    workspaceIds.push(id);
    await expectStatus(201, writeState(owner.api, id, stateFile({ resources: 3 })));
  }
  await seedWorkspaces(stack.databases.workspaces, workspaceIds[0] ?? "", WORKSPACES - connections);
  return {
    name,
    origin: stack.url,
    headers: owner.headers,
    people: await newPeople(stack, organization, connections),
    api: owner.api,
    organization,
    workspaceIds,
    processes,
  };
}

async function newPeople(stack: Stack, organization: string, count: number) {
  const members = await Promise.all(Array.from({ length: count }, () => stack.people.newUser()));
  await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: "people",
    members,
    organizationAccess: ["manage-workspaces"],
  });
  return members.map((member) => callerOf(stack, member).headers);
}

// One in three workspaces has a tag, so that lists return tags.
const tags = `
  insert into tag_bindings (id, organization_id, workspace_id, key, value, through_tags, created_at)
  select 'tb-' || right(w.id, 16), w.organization_id, w.id, 'team-' || (right(w.id, 4)::int % 7), '', true, now()
  from workspaces w where w.name like 'seeded-%' and right(w.id, 4)::int % 3 = 0`;

const seedWorkspaces = (url: string, original: string, count: number): Promise<void> =>
  seed(url, async ({ sql, copies }) => {
    await copies("workspaces", original, count, {
      id: "'ws-' || lpad(n::text, 16, '0')",
      name: "'seeded-' || n",
      current_state_version_id: "null",
    });
    await sql(tags);
  });
