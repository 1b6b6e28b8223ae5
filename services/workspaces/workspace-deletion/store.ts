import { EntitySchema } from "@mikro-orm/core";
import { type EntityManager, queryIn, recordsOf } from "@statehouse/postgres";
import { optional, primaryKey, text, timestamptz } from "@statehouse/postgres/columns";
import { isOrganizationName } from "../organization/domain.ts";
import { type PendingDeletion, WorkspaceDeletion } from "../pending-sync/domain.ts";
import { isWorkspaceName, type WorkspaceRef, workspaceNotFound } from "../workspace/domain.ts";

const entity = new EntitySchema({
  class: WorkspaceDeletion,
  tableName: "workspace_deletions",
  properties: {
    workspaceId: primaryKey,
    organizationId: optional(text),
    projectId: optional(text),
    name: optional(text),
    retryAt: optional(timestamptz),
  },
});

const columns = `d.workspace_id as "workspaceId", d.organization_id as "organizationId",
  d.project_id as "projectId"`;

/** Reads and writes of workspaces' deletion records, inside a transaction. */
const rows = (em: EntityManager) => ({
  ...recordsOf(em, entity, workspaceNotFound),

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

export const workspaceDeletions = { entity, rows };
