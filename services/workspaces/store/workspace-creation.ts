import { commitWith, type EntityManager, queryIn, withTaken } from "@statehouse/postgres";
import { insertRow, rowJson } from "@statehouse/postgres/columns";
import type { InheritedExecution } from "../domain/execution.ts";
import type { OrganizationId, ProjectId } from "../domain/ids.ts";
import { isOrganizationName, organizationNotFound } from "../domain/organization.ts";
import type { Plan } from "../domain/plan.ts";
import {
  isWorkspaceName,
  type Workspace,
  type WorkspaceView,
  workspaceNotFound,
} from "../domain/workspace.ts";
import { inheritedMode, inheritedPool } from "./project.ts";
import { workspaceTaken } from "./workspace.ts";
import {
  insertedColumns,
  selectChangedWorkspaces,
  toWorkspaceView,
  type WorkspaceRow,
} from "./workspace-columns.ts";

/** The values of the organization, the project and the installation that the creation of a workspace uses. */
export interface CreationContext {
  organizationId: OrganizationId;
  workspaceLimit: number | null;
  plan: Plan;
  projectId: ProjectId;
  /** Whether the project belongs to the organization. */
  projectExists: boolean;
  autoDestroyActivityDuration: string | null;
  inherited: InheritedExecution;
  defaultRemoteStateAccess: boolean;
  nameTaken: boolean;
}

// A single statement replaces six, each of which was a round trip (section `requests` of the bench).
const creationContext = `-- index: organizations_name_key, projects_pkey, workspaces_name_key
  select o.id as "organizationId", o.workspace_limit as "workspaceLimit", o.plan,
    coalesce($2, o.default_project_id) as "projectId", p.id is not null as "projectExists",
    p.auto_destroy_activity_duration as "autoDestroyActivityDuration",
    json_build_object('mode', ${inheritedMode}, 'agentPoolId', ${inheritedPool}) as inherited,
    (select default_remote_state_access from general_settings) as "defaultRemoteStateAccess",
    exists (select from workspaces w where w.organization_id = o.id and w.name = $3) as "nameTaken"
  from organizations o
  left join lateral (
    select * from projects where id = coalesce($2, o.default_project_id)
      and organization_id = o.id for share) p on true
  where o.name = $1 and o.status = 'active'
  for share of o`;

const insertedWorkspace = insertRow("workspaces", insertedColumns);

/** Reads and writes of the creation of a workspace, inside a transaction. */
const rows = (em: EntityManager) => ({
  /**
   * Returns the values that the creation of a workspace uses. Prevents the deletion of the organization and of the
   * project until the transaction ends, so that a later deletion includes the workspace.
   */
  async context({
    organizationName,
    projectId,
    name,
  }: {
    organizationName: string;
    /** Undefined for the default project. */
    projectId: ProjectId | undefined;
    name: string;
  }): Promise<CreationContext> {
    if (!isOrganizationName(organizationName)) throw organizationNotFound();
    const [row] = await queryIn<CreationContext>(em, creationContext, [
      organizationName,
      projectId,
      isWorkspaceName(name) ? name : "",
    ]);
    if (!row) throw organizationNotFound();
    return row;
  },

  /**
   * Returns the number of the organization's workspaces. Other transactions that call this function wait until this
   * transaction ends, so that they also count the workspaces that it creates.
   */
  async countForLimit(organizationId: OrganizationId): Promise<number> {
    await queryIn(em, "select pg_advisory_xact_lock(hashtextextended($1, 0))", [organizationId]);
    const [row] = await queryIn<{ count: number }>(
      em,
      // index: workspace_counts_pkey
      "select sum(count)::int as count from workspace_counts where organization_id = $1",
      [organizationId],
    );
    return row?.count ?? 0;
  },

  /**
   * Inserts the workspace and commits. Returns the values of its document. Throws `invalid` if another transaction has
   * taken its name.
   */
  async commit(workspace: Workspace): Promise<WorkspaceView> {
    const [row] = await withTaken(workspaceTaken, () =>
      // index: workspaces_pkey
      commitWith<WorkspaceRow>(em, { change: insertedWorkspace, select: selectChangedWorkspaces }, [
        rowJson(workspace, insertedColumns),
      ]),
    );
    if (!row) throw workspaceNotFound();
    return toWorkspaceView(row);
  },
});

export const workspaceCreations = { rows };
