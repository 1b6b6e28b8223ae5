import type { OrganizationId, ProjectId, TeamId } from "./ids.ts";

/** What a user's teams give it in one organization. */
export interface OrganizationGrants {
  organizationId: OrganizationId;
  owner: boolean;
  organizationAccess: string[];
  teamIds: TeamId[];
  projects: { projectId: ProjectId; access: string }[];
  workspaces?: { workspaceId: string; access: string; permissions: Record<string, string> }[];
}

/** Everything that a user may do, as it stood at `versions`. */
export interface UserGrants {
  versions: string;
  administrator: boolean;
  organizations: OrganizationGrants[];
}
