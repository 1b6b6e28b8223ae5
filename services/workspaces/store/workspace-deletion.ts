import { type EntityManager, queryIn } from "@statehouse/postgres";
import { isOrganizationName } from "../domain/organization.ts";
import { type PendingDeletion, RETRY_AFTER_MS } from "../domain/pending-sync.ts";
import { isWorkspaceName, type Workspace, type WorkspaceRef } from "../domain/workspace.ts";

const columns = `d.workspace_id as "workspaceId", d.organization_id as "organizationId",
  d.project_id as "projectId"`;

/** Reads and writes of workspaces' deletion records, inside a transaction. */
const rows = (em: EntityManager) => ({
  async add(workspace: Workspace, now: Date): Promise<void> {
    await queryIn(
      em,
      `insert into workspace_deletions (workspace_id, organization_id, project_id, name, retry_at)
       values ($1, $2, $3, $4, $5)`,
      [
        workspace.id,
        workspace.organizationId,
        workspace.projectId,
        workspace.name,
        new Date(now.getTime() + RETRY_AFTER_MS),
      ],
    );
  },

  /** Returns the deletion that a repeated request continues, if the state service has not confirmed it. */
  async findPending(ref: WorkspaceRef): Promise<PendingDeletion | undefined> {
    if ("id" in ref) {
      const [row] = await queryIn<PendingDeletion>(
        em,
        // index: workspace_deletions_pkey
        `select ${columns} from workspace_deletions d
         where d.workspace_id = $1 and d.retry_at is not null`,
        [ref.id],
      );
      return row;
    }
    const { organizationName, workspaceName } = ref;
    if (!isOrganizationName(organizationName) || !isWorkspaceName(workspaceName)) return undefined;
    const [row] = await queryIn<PendingDeletion>(
      em,
      // index: organizations_name_key, workspace_deletions_name
      `select ${columns} from workspace_deletions d
       join organizations o on o.id = d.organization_id
       where o.name = $1 and d.name = $2 and d.retry_at is not null
       order by d.retry_at desc limit 1`,
      [organizationName, workspaceName],
    );
    return row;
  },
});

export const workspaceDeletions = { rows };
