import type { permissionTables } from "@statehouse/authorization";
import { newId } from "@statehouse/postgres/ids";
import { newRow } from "@statehouse/postgres/new-row";
import type {
  OrganizationId,
  ProjectId,
  TeamAccessId,
  TeamId,
  WorkspaceId,
} from "../ids-domain.ts";
import type { Team } from "../team/domain.ts";

export type TargetType = keyof typeof permissionTables;

/** The project or workspace to which a team has access. */
export type TeamAccessTarget =
  | { targetType: "project"; targetId: ProjectId }
  | { targetType: "workspace"; targetId: WorkspaceId };

/** A team's access to a project or to a workspace. */
export class TeamAccess {
  declare readonly id: TeamAccessId;
  declare readonly teamId: TeamId;
  declare readonly targetType: TargetType;
  declare readonly targetId: ProjectId | WorkspaceId;
  declare readonly organizationId: OrganizationId;
  declare access: string;
  /** Empty unless the access level is `custom`. */
  declare permissions: Record<string, unknown>;
  declare readonly createdAt: Date;
}

export const newTeamAccess = (
  { id: teamId, organizationId }: Pick<Team, "id" | "organizationId">,
  target: TeamAccessTarget,
  grant: Pick<TeamAccess, "access" | "permissions">,
  createdAt: Date,
): TeamAccess =>
  newRow(TeamAccess, {
    id: target.targetType === "project" ? newId("tprj") : newId("tws"),
    teamId,
    organizationId,
    ...target,
    ...grant,
    createdAt,
  });
