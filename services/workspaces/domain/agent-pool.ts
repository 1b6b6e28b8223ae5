import { conflict, notFound, type Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { takenText } from "./errors.ts";
import type { AgentPoolId, OrganizationId, ProjectId, WorkspaceId } from "./ids.ts";
import { holdsNul } from "./text.ts";

/** A record: Statehouse runs no agents, but an agent-pool-id refers to a pool. */
export class AgentPool {
  declare id: AgentPoolId;
  declare organizationId: OrganizationId;
  declare name: string;
  /**
   * If true, every workspace of the organization may use the pool, except the excluded ones; otherwise only the
   * allowed ones.
   */
  declare organizationScoped: boolean;
  declare revision: bigint;
  declare createdAt: Date;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof AgentPool]: AgentPool[Name] };

/** The workspaces and projects in a pool's scope. */
export interface AgentPoolRelations {
  allowedWorkspaceIds: WorkspaceId[];
  allowedProjectIds: ProjectId[];
  excludedWorkspaceIds: WorkspaceId[];
}

/** A pool as its document shows it. */
export interface AgentPoolView extends Omit<AgentPool, "revision">, AgentPoolRelations {
  organizationName: string;
  /** The workspaces that use the pool. */
  workspaceIds: WorkspaceId[];
}

/** Accepted by create and update; absent: the default on create, the previous value on update. */
export interface AgentPoolSettings {
  name?: string | undefined;
  organizationScoped?: boolean | undefined;
}

/** A pool with every default; the caller sets its name. */
export const newAgentPool = (
  id: AgentPoolId,
  organizationId: OrganizationId,
  now: Date,
): AgentPool =>
  new AgentPool({
    id,
    organizationId,
    name: "",
    organizationScoped: true,
    revision: nextVersion(0n, now),
    createdAt: now,
  });

const MAX_LENGTH = 255;

/** Applies settings and adds violated rules to `problems`. */
export function applyAgentPoolSettings(
  pool: AgentPool,
  { name, organizationScoped }: AgentPoolSettings,
  { nameTaken, problems, now }: { nameTaken: boolean; problems: Problems; now: Date },
): void {
  if (name !== undefined) pool.name = name;
  if (organizationScoped !== undefined) pool.organizationScoped = organizationScoped;
  const problem = problemOfName(pool.name) ?? (nameTaken ? takenText : undefined);
  if (problem !== undefined) problems.add("name", problem);
  pool.revision = nextVersion(pool.revision, now);
}

function problemOfName(name: string): string | undefined {
  if (name.trim() === "") return "Name can't be blank";
  if (holdsNul(name)) return "Name is invalid";
  if (name.length > MAX_LENGTH) return `Name is too long (maximum is ${MAX_LENGTH} characters)`;
  return undefined;
}

export const agentPoolCreated = (agentPool: AgentPool) =>
  ({ type: "agentPoolCreated", revision: agentPool.revision, agentPool }) as const;

export const agentPoolUpdated = (agentPool: AgentPool) =>
  ({ type: "agentPoolUpdated", revision: agentPool.revision, agentPool }) as const;

export const agentPoolDeleted = (agentPool: AgentPool) =>
  ({ type: "agentPoolDeleted", revision: agentPool.revision, agentPool }) as const;

export type AgentPoolEvent = ReturnType<
  typeof agentPoolCreated | typeof agentPoolUpdated | typeof agentPoolDeleted
>;

export const agentPoolNotFound = () => notFound("agent pool");

/** Something still refers to the pool. */
export const agentPoolInUse = () =>
  conflict(
    "agent_pool_in_use",
    "The agent pool is used by a workspace, a project or an organization.",
  );
