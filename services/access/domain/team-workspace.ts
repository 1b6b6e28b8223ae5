import { workspaceLevels, workspacePermissionValues } from "@statehouse/authorization";
import type { OrganizationId, TeamId, TeamWorkspaceId, WorkspaceId } from "./ids.ts";
import type { PermissionTable } from "./permissions.ts";

/** Wire-compatibility, section 6, "team-workspaces". */
export const teamWorkspaceTable: PermissionTable = {
  levels: workspaceLevels,
  values: workspacePermissionValues,
};

/** A team's access to one workspace. */
export class TeamWorkspace {
  declare readonly id: TeamWorkspaceId;
  declare readonly teamId: TeamId;
  declare readonly workspaceId: WorkspaceId;
  declare readonly organizationId: OrganizationId;
  declare access: string;
  /** Empty unless access is custom. */
  declare permissions: Record<string, unknown>;
  declare readonly createdAt: Date;

  constructor(values: TeamWorkspace) {
    Object.assign(this, values);
  }
}
