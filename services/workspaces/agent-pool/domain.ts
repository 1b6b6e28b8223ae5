import { conflict, notFound, type Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import type { AgentPoolId, OrganizationId, ProjectId, WorkspaceId } from "../ids-domain.ts";
import { checkName } from "../text-domain.ts";

/** An agent pool: a record to which the attribute `agent-pool-id` of workspaces refers. Statehouse runs no agents. */
export class AgentPool {
  declare id: AgentPoolId;
  declare organizationId: OrganizationId;
  declare name: string;
  /**
   * If true, all workspaces of the organization may use the pool, except the excluded ones. If false, only the allowed
   * workspaces and the workspaces of allowed projects may use it.
   */
  declare organizationScoped: boolean;
  declare revision: bigint;
  declare createdAt: Date;
}

/** The workspaces and projects that are allowed to use a pool, and the workspaces that are excluded from it. */
export interface AgentPoolRelations {
  allowedWorkspaceIds: WorkspaceId[];
  allowedProjectIds: ProjectId[];
  excludedWorkspaceIds: WorkspaceId[];
}

/** The values of a pool's document. */
export interface AgentPoolView extends Omit<AgentPool, "revision">, AgentPoolRelations {
  organizationName: string;
  /** The workspaces that use the pool. */
  workspaceIds: WorkspaceId[];
}

/**
 * Settings in a create or update request. An absent setting has its default on creation and keeps its value on update.
 */
export interface AgentPoolSettings {
  name?: string | undefined;
  organizationScoped?: boolean | undefined;
}

/** Creates a pool with default values; the caller must set its name. */
export const newAgentPool = (
  id: AgentPoolId,
  organizationId: OrganizationId,
  now: Date,
): AgentPool =>
  newRow(AgentPool, {
    id,
    organizationId,
    name: "",
    organizationScoped: true,
    revision: nextVersion(0n, now),
    createdAt: now,
  });

/** Applies settings and adds violated rules to `problems`. */
export function applyAgentPoolSettings(
  pool: AgentPool,
  { name, organizationScoped }: AgentPoolSettings,
  { problems, now }: { problems: Problems; now: Date },
): void {
  if (name !== undefined) pool.name = name;
  if (organizationScoped !== undefined) pool.organizationScoped = organizationScoped;
  checkName(pool.name, problems);
  pool.revision = nextVersion(pool.revision, now);
}

export const agentPoolNotFound = () => notFound("agent pool");

/** Thrown if a workspace, project or organization refers to the pool that is to be deleted. */
export const agentPoolInUse = () =>
  conflict(
    "agent_pool_in_use",
    "The agent pool is used by a workspace, a project or an organization.",
  );
