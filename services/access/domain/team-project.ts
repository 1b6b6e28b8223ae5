import type { OrganizationId, ProjectId, TeamId, TeamProjectId } from "./ids.ts";

export const levels = ["read", "write", "maintain", "admin"] as const;
export type Level = (typeof levels)[number];

/** A team's access to a project. */
export class TeamProject {
  declare readonly id: TeamProjectId;
  declare readonly teamId: TeamId;
  declare readonly projectId: ProjectId;
  declare readonly organizationId: OrganizationId;
  declare readonly access: Level;
  declare readonly createdAt: Date;

  constructor(values: TeamProject) {
    Object.assign(this, values);
  }
}

/** The level of that name. */
export const levelOf = (name: string): Level | undefined => levels.find((level) => level === name);
