import { LockMode } from "@mikro-orm/core";
import type { Database, EntityManager } from "@statehouse/postgres";
import { offsetOf, type PageInput, queryIn, uniqueViolation } from "@statehouse/postgres";
import type { AgentPool, AgentPoolRelations, AgentPoolView } from "../domain/agent-pool.ts";
import { nameTaken, noSuchAgentPool } from "../domain/errors.ts";
import type { AgentPoolId, OrganizationId, ProjectId, WorkspaceId } from "../domain/ids.ts";
import { agentPoolSchema } from "./entities.ts";
import { Parameters } from "./parameters.ts";
import { containing } from "./pattern.ts";

const related = (relation: "allowed" | "excluded") =>
  `array(select r.workspace_id from agent_pool_workspaces r
     where r.agent_pool_id = a.id and r.relation = '${relation}' order by r.workspace_id)`;

// index: agent_pool_workspaces_pkey, agent_pool_projects_pkey, workspaces_agent_pool
const view = `
  select a.id, a.organization_id as "organizationId", o.name as "organizationName", a.name,
    a.organization_scoped as "organizationScoped", a.created_at as "createdAt",
    ${related("allowed")} as "allowedWorkspaceIds", ${related("excluded")} as "excludedWorkspaceIds",
    array(select r.project_id from agent_pool_projects r
      where r.agent_pool_id = a.id order by r.project_id) as "allowedProjectIds",
    array(select w.id from workspaces w where w.agent_pool_id = a.id order by w.id) as "workspaceIds"
  from agent_pools a join organizations o on o.id = a.organization_id`;

export interface AgentPoolSearch {
  organizationId: OrganizationId;
  /** Part of the name; empty: any. */
  query: string;
  /** Those that the workspace of this name may use; empty: all. */
  allowedWorkspaceName: string;
  sort: "name" | "created-at";
  descending: boolean;
  page: PageInput;
}

const sortColumns = { name: "a.name", "created-at": "a.created_at" } as const;

const conditions = (search: AgentPoolSearch, parameters: Parameters): string => {
  const all = [`a.organization_id = ${parameters.bind(search.organizationId)}`];
  if (search.query) all.push(`a.name ilike ${parameters.bind(containing(search.query))}`);
  if (search.allowedWorkspaceName) {
    // index: workspaces_name_key
    all.push(`exists (select from workspaces w
      where w.organization_id = a.organization_id
        and w.name = ${parameters.bind(search.allowedWorkspaceName)} and ${usableBy})`);
  }
  return all.join(" and ");
};

/** Whether workspace `w` may use pool `a`. */
const usableBy = `case when a.organization_scoped
  then not exists (select from agent_pool_workspaces r
    where r.agent_pool_id = a.id and r.workspace_id = w.id and r.relation = 'excluded')
  else exists (select from agent_pool_workspaces r
      where r.agent_pool_id = a.id and r.workspace_id = w.id and r.relation = 'allowed')
    or exists (select from agent_pool_projects r
      where r.agent_pool_id = a.id and r.project_id = w.project_id)
  end`;

/** Reads of agent pools of active organizations, outside any transaction. */
export const agentPoolReads = (database: Database) => ({
  async batch(ids: readonly string[]): Promise<AgentPoolView[]> {
    return database.query<AgentPoolView>(
      // index: agent_pools_pkey
      `${view} where a.id = any($1) and o.status = 'active'`,
      [ids],
    );
  },

  async count(search: AgentPoolSearch): Promise<number> {
    const parameters = new Parameters();
    const [row] = await database.query<{ count: number }>(
      // index: agent_pools_name_key
      `select count(*) from agent_pools a where ${conditions(search, parameters)}`,
      parameters.values,
    );
    return row?.count ?? 0;
  },

  async page(search: AgentPoolSearch): Promise<AgentPoolView[]> {
    const parameters = new Parameters();
    const sought = conditions(search, parameters);
    return database.query<AgentPoolView>(
      // index: agent_pools_name_key
      `${view} where ${sought}
       order by ${sortColumns[search.sort]} ${search.descending ? "desc" : "asc"}, a.id
       limit ${parameters.bind(search.page.size)} offset ${parameters.bind(offsetOf(search.page))}`,
      parameters.values,
    );
  },
});

/** Agent pools inside a transaction. */
export const agentPoolRows = (em: EntityManager) => ({
  async getForUpdate(id: AgentPoolId): Promise<AgentPool> {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const pool = await em.findOne(agentPoolSchema, { id }, { lockMode });
    if (!pool) throw noSuchAgentPool();
    return pool;
  },

  /** Whether it is one of the organization's. It stays one until the transaction ends. */
  async belongsTo(id: AgentPoolId, organizationId: OrganizationId): Promise<boolean> {
    const rows = await queryIn(
      em,
      // index: agent_pools_pkey
      "select from agent_pools where id = $1 and organization_id = $2 for key share",
      [id, organizationId],
    );
    return rows.length > 0;
  },

  async nameTaken(organizationId: OrganizationId, name: string): Promise<boolean> {
    const rows = await queryIn(
      em,
      // index: agent_pools_name_key
      "select from agent_pools where organization_id = $1 and name = $2",
      [organizationId, name],
    );
    return rows.length > 0;
  },

  async save(pool: AgentPool): Promise<void> {
    try {
      em.persist(pool);
      await em.flush();
    } catch (error) {
      if (uniqueViolation(error, "agent_pools_name_key")) throw nameTaken();
      throw error;
    }
  },

  /** Whether a workspace, project or organization refers to it. */
  async inUse(id: AgentPoolId): Promise<boolean> {
    const rows = await queryIn(
      em,
      // index: workspaces_agent_pool, projects_agent_pool, organizations_agent_pool
      `select from workspaces where agent_pool_id = $1
       union all select from projects where default_agent_pool_id = $1
       union all select from organizations where default_agent_pool_id = $1 limit 1`,
      [id],
    );
    return rows.length > 0;
  },

  async remove(pool: AgentPool): Promise<void> {
    em.remove(pool);
    await em.flush();
  },

  /** Replaces those relations that are given; false when one names what is not the organization's. */
  async relate(
    { id, organizationId }: AgentPool,
    given: Partial<AgentPoolRelations>,
  ): Promise<Record<keyof AgentPoolRelations, boolean>> {
    return {
      allowedWorkspaceIds: await relateWorkspaces("allowed", given.allowedWorkspaceIds),
      excludedWorkspaceIds: await relateWorkspaces("excluded", given.excludedWorkspaceIds),
      allowedProjectIds: await relateProjects(given.allowedProjectIds),
    };

    async function relateWorkspaces(relation: string, ids: readonly WorkspaceId[] | undefined) {
      if (!ids) return true;
      const wanted = [...new Set(ids)];
      await queryIn(
        em,
        "delete from agent_pool_workspaces where agent_pool_id = $1 and relation = $2",
        [id, relation],
      );
      const added = await queryIn(
        em,
        // index: workspaces_pkey
        `insert into agent_pool_workspaces (agent_pool_id, workspace_id, relation)
         select $1, w.id, $2 from workspaces w where w.id = any($3) and w.organization_id = $4
         returning workspace_id`,
        [id, relation, wanted, organizationId],
      );
      return added.length === wanted.length;
    }

    async function relateProjects(ids: readonly ProjectId[] | undefined) {
      if (!ids) return true;
      const wanted = [...new Set(ids)];
      await queryIn(em, "delete from agent_pool_projects where agent_pool_id = $1", [id]);
      const added = await queryIn(
        em,
        // index: projects_pkey
        `insert into agent_pool_projects (agent_pool_id, project_id)
         select $1, p.id from projects p where p.id = any($2) and p.organization_id = $3
         returning project_id`,
        [id, wanted, organizationId],
      );
      return added.length === wanted.length;
    }
  },

  async view(id: AgentPoolId): Promise<AgentPoolView> {
    const [row] = await queryIn<AgentPoolView>(em, `${view} where a.id = $1`, [id]);
    if (!row) throw noSuchAgentPool();
    return row;
  },
});
