import { permissionValues, projectLevels } from "@statehouse/authorization";
import type { OrganizationId, ProjectId, TeamId, TeamProjectId } from "./ids.ts";
import type { PermissionTable } from "./permissions.ts";

/** Specification, "Team project access". */
export const teamProjectTable: PermissionTable = {
  levels: projectLevels,
  values: permissionValues,
};

/** A team's access to a project. */
export class TeamProject {
  declare readonly id: TeamProjectId;
  declare readonly teamId: TeamId;
  declare readonly projectId: ProjectId;
  declare readonly organizationId: OrganizationId;
  declare access: string;
  /** Empty unless access is custom. */
  declare permissions: Record<string, unknown>;
  declare readonly createdAt: Date;

  constructor(values: TeamProject) {
    Object.assign(this, values);
  }
}
