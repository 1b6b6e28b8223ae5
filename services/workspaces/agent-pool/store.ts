import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  existsIn,
  type Page,
  type PageInput,
  recordsOf,
  withTotal,
} from "@statehouse/postgres";
import {
  bigint,
  boolean,
  primaryKey,
  selectList,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import {
  AgentPoolCreatedSchema,
  AgentPoolDeletedSchema,
  AgentPoolUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { organizationIsActive } from "../active-organization-store.ts";
import { nameTaken } from "../errors-domain.ts";
import type { AgentPoolId, OrganizationId } from "../ids-domain.ts";
import { containing, Parameters } from "../parameters-store.ts";
import { readableProjects, readableWorkspaces } from "../read-scope-store.ts";
import { AgentPool, type AgentPoolView, agentPoolNotFound } from "./domain.ts";
import { type RelationScope, relateAgentPool } from "./relations-store.ts";

const columns = {
  id: primaryKey,
  organizationId: text,
  name: text,
  organizationScoped: boolean,
  revision: bigint,
  createdAt: timestamptz,
};

const entity = new EntitySchema({
  class: AgentPool,
  tableName: "agent_pools",
  properties: columns,
});

const related = (relation: "allowed" | "excluded", readable: string) =>
  `array(select w.id from agent_pool_workspaces r join workspaces w on w.id = r.workspace_id
     where r.agent_pool_id = a.id and r.relation = '${relation}' and ${readable} order by w.id)`;

/** Returns the SQL that selects pools with the part of their relations that the caller may see. */
function view(shown: RelationScope, parameters: Parameters, pools = "agent_pools"): string {
  const workspaces = readableWorkspaces(shown.workspaces, parameters);
  // index: agent_pool_workspaces_pkey, agent_pool_projects_pkey, workspaces_agent_pool, workspaces_pkey
  return `
  select ${selectList("a", columns)}, o.name as "organizationName",
    ${related("allowed", workspaces)} as "allowedWorkspaceIds",
    ${related("excluded", workspaces)} as "excludedWorkspaceIds",
    array(select p.id from agent_pool_projects r join projects p on p.id = r.project_id
      where r.agent_pool_id = a.id and ${readableProjects(shown.projects, parameters)}
      order by p.id) as "allowedProjectIds",
    array(select w.id from workspaces w where w.agent_pool_id = a.id and ${workspaces}
      order by w.id) as "workspaceIds"
  from ${pools} a join organizations o on o.id = a.organization_id`;
}

export interface AgentPoolSearch {
  organizationId: OrganizationId;
  /** The part of each pool's relations that the caller may see. */
  shown: RelationScope;
  /** The workspaces and projects that `allowedWorkspaceName` and `allowedProjectName` can match. */
  named: RelationScope;
  /** Part of the pool's name; empty matches all pools. */
  query: string;
  /** The name of a workspace. Matches pools that this workspace may use. Empty matches all pools. */
  allowedWorkspaceName: string;
  /**
   * The name of a project. Matches pools that the project's workspaces may use, even if a pool excludes some of them.
   * Empty matches all pools.
   */
  allowedProjectName: string;
  sort: "name" | "created-at";
  descending: boolean;
  page: PageInput;
}

const sortColumns = { name: "name", "created-at": "created_at" } as const;
const sortFields = { name: "name", "created-at": '"createdAt"' } as const;

const conditions = (search: AgentPoolSearch, parameters: Parameters): string => {
  const all = [`a.organization_id = ${parameters.bind(search.organizationId)}`];
  if (search.query) all.push(`a.name ilike ${parameters.bind(containing(search.query))}`);
  if (search.allowedWorkspaceName) {
    // index: workspaces_name_key
    all.push(`exists (select from workspaces w
      where w.organization_id = a.organization_id
        and w.name = ${parameters.bind(search.allowedWorkspaceName)}
        and ${readableWorkspaces(search.named.workspaces, parameters)} and ${usableBy})`);
  }
  if (search.allowedProjectName) {
    // index: projects_name_key, agent_pool_projects_pkey
    all.push(`exists (select from projects p
      where p.organization_id = a.organization_id
        and p.name = ${parameters.bind(search.allowedProjectName)}
        and ${readableProjects(search.named.projects, parameters)}
        and (a.organization_scoped or exists (select from agent_pool_projects r
          where r.agent_pool_id = a.id and r.project_id = p.id)))`);
  }
  return all.join(" and ");
};

/** SQL condition: whether workspace `w` may use pool `a`. */
const usableBy = `case when a.organization_scoped
  then not exists (select from agent_pool_workspaces r
    where r.agent_pool_id = a.id and r.workspace_id = w.id and r.relation = 'excluded')
  else exists (select from agent_pool_workspaces r
      where r.agent_pool_id = a.id and r.workspace_id = w.id and r.relation = 'allowed')
    or exists (select from agent_pool_projects r
      where r.agent_pool_id = a.id and r.project_id = w.project_id)
  end`;

/** Reads of agent pools of active organizations, outside any transaction. */
const reads = (database: Database) => ({
  async batch(ids: readonly string[], shown: RelationScope): Promise<AgentPoolView[]> {
    const parameters = new Parameters();
    return database.query<AgentPoolView>(
      // index: agent_pools_pkey
      `${view(shown, parameters)}
       where a.id = any(${parameters.bind(ids)}) and o.status = 'active'`,
      parameters.values,
    );
  },

  async page(search: AgentPoolSearch): Promise<Page<AgentPoolView>> {
    const parameters = new Parameters();
    const matches = conditions(search, parameters);
    const order = search.descending ? "desc" : "asc";
    return database.page<AgentPoolView>(
      // index: agent_pools_name_key
      withTotal({
        count: `select count(*) as total from agent_pools a where ${matches}`,
        select: `${view(search.shown, parameters)} where ${matches}
          order by a.${sortColumns[search.sort]} ${order}, a.id
          ${parameters.limits(search.page)}`,
        order: `listed.${sortFields[search.sort]} ${order}, listed.id`,
      }),
      parameters.values,
    );
  },
});

/** Reads and writes of agent pools inside a transaction. */
const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, agentPoolNotFound);

  return {
    ...records,

    /**
     * Returns whether a request contains a pool, and the pool belongs to the organization. Locks the pool's row, so that
     * the result remains true until the transaction ends.
     */
    async isKnown(
      id: AgentPoolId | null | undefined,
      organizationId: OrganizationId,
    ): Promise<boolean> {
      if (!id) return false;
      return existsIn(
        em,
        // index: agent_pools_pkey
        "select from agent_pools where id = $1 and organization_id = $2 for key share",
        [id, organizationId],
      );
    },

    /** Returns whether a workspace, project or organization uses the pool. */
    async inUse(id: AgentPoolId): Promise<boolean> {
      return existsIn(
        em,
        // index: workspaces_agent_pool, projects_agent_pool, organizations_agent_pool
        `select from workspaces where agent_pool_id = $1
       union all select from projects where default_agent_pool_id = $1
       union all select from organizations where default_agent_pool_id = $1 limit 1`,
        [id],
      );
    },

    relate: relateAgentPool(em),

    /** Writes the pool and commits. Returns the values of its document, with the part that the caller may see. */
    commit(pool: AgentPool, shown: RelationScope): Promise<AgentPoolView> {
      const parameters = new Parameters();
      const select = view(shown, parameters, "changed");
      return records.commit<AgentPoolView>(pool, select, parameters.values);
    },
  };
};

type Named = Pick<AgentPool, "id" | "organizationId" | "name" | "revision">;

const fieldsOf = ({ id, organizationId, name, revision }: Named) => ({
  agentPoolId: id,
  organizationId,
  name,
  revision,
});

export const agentPoolCreated = (agentPool: Named) =>
  published(AgentPoolCreatedSchema, agentPool.id, fieldsOf(agentPool));

export const agentPoolUpdated = (agentPool: AgentPool) =>
  published(AgentPoolUpdatedSchema, agentPool.id, fieldsOf(agentPool), agentPool);

export const agentPoolDeleted = ({ id, organizationId, revision }: AgentPool) =>
  published(AgentPoolDeletedSchema, id, { agentPoolId: id, organizationId, revision });

export const agentPools = {
  entity,
  reads,
  rows,
  uniqueErrors: { agent_pools_name_key: nameTaken },
  deletedWithOrganization: "agent_pools",
  listed: listed({
    schemas: [AgentPoolCreatedSchema],
    // index: agent_pools_pkey, organizations_pkey
    from: "agent_pools t",
    columns: `t.id, t.organization_id as "organizationId", t.name`,
    isListed: organizationIsActive("t.organization_id"),
    events: (agentPool: Named) => [agentPoolCreated(agentPool)],
  }),
};
