import { LockMode } from "@mikro-orm/core";
import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type {
  DataRetentionOwner,
  DataRetentionPolicy,
  DataRetentionPolicyView,
  WorkspaceRetention,
} from "../domain/data-retention-policy.ts";
import { dataRetentionPolicySchema } from "./entities.ts";

/** The own policy of the row that `condition` names, as one JSON column; null without one. */
export const ownDataRetentionPolicy = (condition: string): string =>
  `(select json_build_object('id', r.id, 'kind', r.kind,
      'deleteOlderThanNDays', r.delete_older_than_n_days)
    from data_retention_policies r where ${condition}) as "dataRetentionPolicy"`;

const columns = `r.id, r.kind, r.delete_older_than_n_days as "deleteOlderThanNDays"`;
const ofSite = "r.organization_id is null and r.workspace_id is null";

export const dataRetentionPolicyReads = (database: Database) => ({
  /** The first there is: of the workspace, of the organization, of the site. */
  async effective(
    organizationId: string | null,
    workspaceId: string | null,
  ): Promise<DataRetentionPolicyView | undefined> {
    const [row] = await database.query<DataRetentionPolicyView>(
      // index: data_retention_policies_workspace, _organization, _site
      `select ${columns} from data_retention_policies r
       where r.workspace_id = $2 or r.organization_id = $1 or (${ofSite})
       order by r.workspace_id nulls last, r.organization_id nulls last limit 1`,
      [organizationId, workspaceId],
    );
    return row;
  },

  /** What counts for each of the workspaces; those that are not there are left out. */
  async ofWorkspaces(ids: readonly string[]): Promise<WorkspaceRetention[]> {
    return database.query<WorkspaceRetention>(
      // index: workspaces_pkey, data_retention_policies_workspace, _organization, _site
      `select w.id as "workspaceId", w.organization_id as "organizationId", o.plan,
         case
           when own.id is not null then own.delete_older_than_n_days
           when shared.id is not null then shared.delete_older_than_n_days
           else site.delete_older_than_n_days
         end as "deleteOlderThanNDays"
       from workspaces w
       join organizations o on o.id = w.organization_id
       left join data_retention_policies own on own.workspace_id = w.id
       left join data_retention_policies shared on shared.organization_id = w.organization_id
       left join data_retention_policies site
         on site.organization_id is null and site.workspace_id is null
       where w.id = any($1)`,
      [ids],
    );
  },
});

/** Policies inside a transaction that holds the row of their owner. */
export const dataRetentionPolicyRows = (em: EntityManager) => ({
  async findForUpdate(owner: DataRetentionOwner): Promise<DataRetentionPolicy | undefined> {
    const own = owner === "site" ? { organizationId: null, workspaceId: null } : { ...owner };
    // The site has no row to hold: two who set its first policy at once would meet at the index.
    if (owner === "site") {
      await queryIn(em, "select from general_settings for update");
    }
    const found = await em.findOne(dataRetentionPolicySchema, own, {
      lockMode: LockMode.PESSIMISTIC_WRITE,
    });
    return found ?? undefined;
  },

  async save(policy: DataRetentionPolicy): Promise<void> {
    em.persist(policy);
    await em.flush();
  },

  async remove(policy: DataRetentionPolicy): Promise<void> {
    em.remove(policy);
    await em.flush();
  },
});
