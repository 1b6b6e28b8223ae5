import { type EntityManager, queryIn } from "@statehouse/postgres";
import type { ProjectId, WorkspaceId } from "../ids-domain.ts";
import { Parameters } from "../parameters-store.ts";
import { type ReadScope, readableProjects, readableWorkspaces } from "../read-scope-store.ts";
import type { AgentPool, AgentPoolRelations } from "./domain.ts";

/** The workspaces and projects that a caller may see in a pool's relations, or may name in a request. */
export interface RelationScope {
  workspaces: ReadScope;
  projects: ReadScope;
}

/**
 * Completely replaces those relations of a pool that the request contains. Returns, for each relation, whether all its
 * ids are valid: they must belong to the pool's organization, and the caller must be able to read those that are new in
 * the relation.
 */
export const relateAgentPool =
  (em: EntityManager) =>
  async (
    { id, organizationId }: AgentPool,
    relations: Partial<AgentPoolRelations>,
    readable: RelationScope,
  ): Promise<Record<keyof AgentPoolRelations, boolean>> => {
    return {
      allowedWorkspaceIds: await relateWorkspaces("allowed", relations.allowedWorkspaceIds),
      excludedWorkspaceIds: await relateWorkspaces("excluded", relations.excludedWorkspaceIds),
      allowedProjectIds: await relateProjects(relations.allowedProjectIds),
    };

    async function relateWorkspaces(relation: string, ids: readonly WorkspaceId[] | undefined) {
      if (!ids) return true;
      const uniqueIds = [...new Set(ids)];
      const before = await queryIn<{ id: string }>(
        em,
        `delete from agent_pool_workspaces where agent_pool_id = $1 and relation = $2
         returning workspace_id as id`,
        [id, relation],
      );
      const parameters = new Parameters();
      const added = await queryIn(
        em,
        // index: workspaces_pkey
        `insert into agent_pool_workspaces (agent_pool_id, workspace_id, relation)
         select ${parameters.bind(id)}, w.id, ${parameters.bind(relation)} from workspaces w
         where w.id = any(${parameters.bind(uniqueIds)})
           and w.organization_id = ${parameters.bind(organizationId)}
           and (w.id = any(${parameters.bind(before.map((row) => row.id))})
             or ${readableWorkspaces(readable.workspaces, parameters)})
         returning workspace_id`,
        parameters.values,
      );
      return added.length === uniqueIds.length;
    }

    async function relateProjects(ids: readonly ProjectId[] | undefined) {
      if (!ids) return true;
      const uniqueIds = [...new Set(ids)];
      const before = await queryIn<{ id: string }>(
        em,
        "delete from agent_pool_projects where agent_pool_id = $1 returning project_id as id",
        [id],
      );
      const parameters = new Parameters();
      const added = await queryIn(
        em,
        // index: projects_pkey
        `insert into agent_pool_projects (agent_pool_id, project_id)
         select ${parameters.bind(id)}, p.id from projects p
         where p.id = any(${parameters.bind(uniqueIds)})
           and p.organization_id = ${parameters.bind(organizationId)}
           and (p.id = any(${parameters.bind(before.map((row) => row.id))})
             or ${readableProjects(readable.projects, parameters)})
         returning project_id`,
        parameters.values,
      );
      return added.length === uniqueIds.length;
    }
  };
