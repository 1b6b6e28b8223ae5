import { LockMode } from "@mikro-orm/core";
import { type Database, type EntityManager, offsetOf, type PageInput } from "@statehouse/postgres";
import { noSuchTeamAccess } from "../domain/errors.ts";
import type { TeamProjectId, TeamWorkspaceId } from "../domain/ids.ts";
import { TeamProject } from "../domain/team-project.ts";
import { TeamWorkspace } from "../domain/team-workspace.ts";
import { type CountedRow, counted, rowsOf } from "./counted.ts";
import { teamProjectSchema, teamWorkspaceSchema } from "./entities.ts";

/** Whose grants a list shows: everybody's, or those of some teams and perhaps of those that are not secret. */
export type VisibleTeams =
  | { all: true }
  | { all: false; teamIds: readonly string[]; open: boolean };

const list = (table: string, on: string, column: string) =>
  counted(
    `select count(*)::int as total from ${table} g join teams t on t.id = g.team_id where ${on}`,
    `select g.id, g.team_id as "teamId", g.${column}, g.organization_id as "organizationId",
       g.access, g.permissions, g.created_at as "createdAt"
     from ${table} g join teams t on t.id = g.team_id where ${on}
     order by g.created_at, g.id limit $5 offset $6`,
    `listed."createdAt", listed.id`,
  );

const visible = `($2 or t.id = any($3) or ($4 and t.visibility = 'organization'))`;

/** Grants on project $1 that somebody sees, by age. */
export const listTeamProjects = `-- index: team_projects_by_project, teams_pkey
  ${list("team_projects", `g.project_id = $1 and ${visible}`, 'project_id as "projectId"')}`;

/** Grants on workspace $1 that somebody sees, by age. */
export const listTeamWorkspaces = `-- index: team_workspaces_by_workspace, teams_pkey
  ${list("team_workspaces", `g.workspace_id = $1 and ${visible}`, 'workspace_id as "workspaceId"')}`;

const parameters = (id: string, teams: VisibleTeams, page: PageInput) => [
  id,
  teams.all,
  teams.all ? [] : teams.teamIds,
  !teams.all && teams.open,
  page.size,
  offsetOf(page),
];

/** A grant with how secret its team is. */
type WithVisibility<Grant> = Grant & { visibility: string };

/** Grants outside any transaction. */
export const teamAccessReads = (database: Database) => ({
  async project(id: TeamProjectId): Promise<WithVisibility<TeamProject> | undefined> {
    const [row] = await database.query<WithVisibility<TeamProject>>(
      // index: team_projects_pkey, teams_pkey
      `select g.id, g.team_id as "teamId", g.project_id as "projectId",
         g.organization_id as "organizationId", g.access, g.permissions,
         g.created_at as "createdAt", t.visibility
       from team_projects g join teams t on t.id = g.team_id where g.id = $1`,
      [id],
    );
    return row;
  },

  async workspace(id: TeamWorkspaceId): Promise<WithVisibility<TeamWorkspace> | undefined> {
    const [row] = await database.query<WithVisibility<TeamWorkspace>>(
      // index: team_workspaces_pkey, teams_pkey
      `select g.id, g.team_id as "teamId", g.workspace_id as "workspaceId",
         g.organization_id as "organizationId", g.access, g.permissions,
         g.created_at as "createdAt", t.visibility
       from team_workspaces g join teams t on t.id = g.team_id where g.id = $1`,
      [id],
    );
    return row;
  },

  /** Takes away the grants on a project that is gone. */
  async forgetProject(id: string): Promise<void> {
    // index: team_projects_by_project
    await database.query("delete from team_projects where project_id = $1", [id]);
  },

  /** Likewise on a workspace. */
  async forgetWorkspace(id: string): Promise<void> {
    // index: team_workspaces_by_workspace
    await database.query("delete from team_workspaces where workspace_id = $1", [id]);
  },

  async ofProject(id: string, teams: VisibleTeams, page: PageInput) {
    const found = await database.query<CountedRow<TeamProject>>(
      listTeamProjects,
      parameters(id, teams, page),
    );
    const { rows, total } = rowsOf(found);
    return { teamProjects: rows.map((row) => new TeamProject(row)), total };
  },

  async ofWorkspace(id: string, teams: VisibleTeams, page: PageInput) {
    const found = await database.query<CountedRow<TeamWorkspace>>(
      listTeamWorkspaces,
      parameters(id, teams, page),
    );
    const { rows, total } = rowsOf(found);
    return { teamWorkspaces: rows.map((row) => new TeamWorkspace(row)), total };
  },
});

const lockMode = LockMode.PESSIMISTIC_WRITE;

/** Grants on projects inside a transaction that holds their organization's row. */
export const teamProjectRows = (em: EntityManager) => ({
  async exists({ teamId, projectId }: Pick<TeamProject, "teamId" | "projectId">): Promise<boolean> {
    // index: team_projects_team_id_project_id_key
    return (await em.count(teamProjectSchema, { teamId, projectId })) > 0;
  },
  async getForUpdate(id: TeamProjectId): Promise<TeamProject> {
    const found = await em.findOne(teamProjectSchema, { id }, { lockMode });
    if (!found) throw noSuchTeamAccess();
    return found;
  },
  async add(teamProject: TeamProject): Promise<void> {
    await em.insert(teamProjectSchema, { ...teamProject });
  },
  async save({ id, access, permissions }: TeamProject): Promise<void> {
    await em.nativeUpdate(teamProjectSchema, { id }, { access, permissions });
  },
  async delete({ id }: TeamProject): Promise<void> {
    await em.nativeDelete(teamProjectSchema, { id });
  },
});

/** Grants on workspaces inside a transaction that holds their organization's row. */
export const teamWorkspaceRows = (em: EntityManager) => ({
  async exists({
    teamId,
    workspaceId,
  }: Pick<TeamWorkspace, "teamId" | "workspaceId">): Promise<boolean> {
    // index: team_workspaces_team_id_workspace_id_key
    return (await em.count(teamWorkspaceSchema, { teamId, workspaceId })) > 0;
  },
  async getForUpdate(id: TeamWorkspaceId): Promise<TeamWorkspace> {
    const found = await em.findOne(teamWorkspaceSchema, { id }, { lockMode });
    if (!found) throw noSuchTeamAccess();
    return found;
  },
  async add(teamWorkspace: TeamWorkspace): Promise<void> {
    await em.insert(teamWorkspaceSchema, { ...teamWorkspace });
  },
  async save({ id, access, permissions }: TeamWorkspace): Promise<void> {
    await em.nativeUpdate(teamWorkspaceSchema, { id }, { access, permissions });
  },
  async delete({ id }: TeamWorkspace): Promise<void> {
    await em.nativeDelete(teamWorkspaceSchema, { id });
  },
});
