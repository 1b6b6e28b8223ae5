import { allowed, authorize, type Caller, grantsOf } from "@statehouse/authorization";
import { inWords, Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newId } from "@statehouse/postgres/ids";
import type { Page } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import { allowedRows, readScopeOf } from "../caller-app.ts";
import type { AgentPoolId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import { getOrganization } from "../organization/app.ts";
import type { ReadScope } from "../read-scope-store.ts";
import {
  type AgentPool,
  type AgentPoolRelations,
  type AgentPoolSettings,
  type AgentPoolView,
  agentPoolInUse,
  agentPoolNotFound,
  applyAgentPoolSettings,
  newAgentPool,
} from "./domain.ts";
import type { RelationScope } from "./relations-store.ts";
import {
  type AgentPoolSearch,
  agentPoolCreated,
  agentPoolDeleted,
  agentPoolUpdated,
} from "./store.ts";

/** The values of an agent pool in a request. A relation in the request replaces the stored relation completely. */
export interface AgentPoolInput {
  settings: AgentPoolSettings;
  relations: Partial<AgentPoolRelations>;
}

/** Throws `notFound`, `forbidden`, or `invalid` with all problems of the request. */
export const createAgentPool = (
  app: App,
  caller: Caller,
  { organizationName, ...input }: AgentPoolInput & { organizationName: string },
): Promise<AgentPoolView> =>
  app.transaction(async (tx) => {
    const { id: organizationId } = await tx.organizations.getByName(organizationName);
    authorize(caller, "organization:manage-agent-pools", { organizationId }, "organization");
    const pool = newAgentPool(newId("apool"), organizationId, app.now());
    await apply(app, tx, caller, pool, input);
    await tx.record(agentPoolCreated(pool));
    return tx.agentPools.commit(pool, shownTo(caller));
  });

/** Returns an agent pool. Throws `notFound` if it does not exist or the caller does not belong to its organization. */
export async function getAgentPool(
  app: App,
  caller: Caller,
  id: AgentPoolId,
): Promise<AgentPoolView> {
  const [pool] = await app.reads.agentPools.batch([id], shownTo(caller));
  if (!pool) throw agentPoolNotFound();
  authorize(caller, "organization:read", pool, "agent pool");
  return pool;
}

/** Returns the requested agent pools of organizations that the caller belongs to; other ids are omitted. */
export const batchGetAgentPools = async (
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<AgentPoolView[]> =>
  allowedRows(caller, "organization:read", await app.reads.agentPools.batch(ids, shownTo(caller)));

/** Throws `notFound` if the caller does not belong to the organization. */
export async function listAgentPools(
  app: App,
  caller: Caller,
  {
    organizationName,
    ...search
  }: Omit<AgentPoolSearch, "organizationId" | "shown" | "named"> & {
    organizationName: string;
  },
): Promise<Page<AgentPoolView>> {
  const { id: organizationId } = await getOrganization(app, caller, organizationName);
  return app.reads.agentPools.page({
    ...search,
    organizationId,
    named: relationScopeOf(caller),
    shown: shownTo(caller),
  });
}

/** Throws `notFound`, `forbidden`, or `invalid` with all problems of the request. */
export const updateAgentPool = (
  app: App,
  caller: Caller,
  { id, ...input }: AgentPoolInput & { id: AgentPoolId },
): Promise<AgentPoolView> =>
  app.transaction(async (tx) => {
    const pool = await tx.agentPools.getForUpdate(id);
    authorize(caller, "organization:manage-agent-pools", pool, "agent pool");
    await apply(app, tx, caller, pool, input);
    await tx.record(agentPoolUpdated(pool));
    return tx.agentPools.commit(pool, shownTo(caller));
  });

/** Throws the conflict `agent_pool_in_use` if a workspace, project or organization uses the pool. */
export const deleteAgentPool = (app: App, caller: Caller, id: AgentPoolId): Promise<void> =>
  app.transaction(async (tx) => {
    const pool = await tx.agentPools.getForUpdate(id);
    authorize(caller, "organization:manage-agent-pools", pool, "agent pool");
    if (await tx.agentPools.inUse(id)) throw agentPoolInUse();
    pool.revision = nextVersion(pool.revision, app.now());
    await tx.record(agentPoolDeleted(pool));
    tx.agentPools.remove(pool);
  });

/** The request field of each relation, for error messages. */
const relationFields = {
  allowedWorkspaceIds: "allowedWorkspaces",
  allowedProjectIds: "allowedProjects",
  excludedWorkspaceIds: "excludedWorkspaces",
} as const satisfies Record<keyof AgentPoolRelations, string>;

const relationScopeOf = (caller: Caller): RelationScope => ({
  workspaces: readScopeOf(caller, "workspace:read"),
  projects: readScopeOf(caller, "project:read"),
});

/**
 * Returns the workspaces and projects that the caller sees in a pool's relations: those that it may read. A caller that
 * manages the organization's pools sees all of them, because a caller that replaces a relation must know its members.
 */
function shownTo(caller: Caller): RelationScope {
  const grants = grantsOf(caller);
  const managed = [...grants.organizations.keys()].filter((organizationId) =>
    allowed(grants, "organization:manage-agent-pools", { organizationId }),
  );
  const { workspaces, projects } = relationScopeOf(caller);
  const andManaged = (readable: ReadScope): ReadScope => ({
    ...readable,
    organizationIds: [...new Set([...readable.organizationIds, ...managed])],
  });
  return { workspaces: andManaged(workspaces), projects: andManaged(projects) };
}

async function apply(
  app: App,
  tx: Tx,
  caller: Caller,
  pool: AgentPool,
  { settings, relations }: AgentPoolInput,
): Promise<void> {
  const problems = new Problems();
  applyAgentPoolSettings(pool, settings, { problems, now: app.now() });
  problems.throwIfAny();
  tx.agentPools.save(pool);
  const known = await tx.agentPools.relate(pool, relations, relationScopeOf(caller));
  for (const relation of Object.keys(relationFields) as (keyof AgentPoolRelations)[]) {
    const field = relationFields[relation];
    if (relations[relation]) tx.noteChange(pool, field);
    if (!known[relation]) problems.add(field, `${inWords(field)} contain an unknown id`);
  }
  problems.throwIfAny();
}
