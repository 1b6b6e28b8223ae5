import type { OrganizationId, ProjectId, TeamId, WorkspaceId } from "./ids.ts";

/** What one team has on one project or workspace; `permissions` only with access custom. */
interface Grant {
  access: string;
  permissions: Record<string, unknown>;
}

/** What a principal's teams give it in one organization. */
export interface OrganizationGrants {
  organizationId: OrganizationId;
  owner: boolean;
  organizationAccess: string[];
  teamIds: TeamId[];
  projects: (Grant & { projectId: ProjectId })[];
  workspaces: (Grant & { workspaceId: WorkspaceId })[];
  /** It takes no user tokens, and this is one. */
  refused: boolean;
}

/** Everything that a principal may do, as it stood at `versions`. */
export interface PrincipalGrants {
  versions: string;
  administrator: boolean;
  organizations: OrganizationGrants[];
}
