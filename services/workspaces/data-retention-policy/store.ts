import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import { nextVersion } from "@statehouse/events/version";
import { type Database, type EntityManager, queryIn, recordsOf } from "@statehouse/postgres";
import { bigint, integer, optional, primaryKey, text } from "@statehouse/postgres/columns";
import {
  DataRetentionPolicyDeletedSchema,
  DataRetentionPolicySetSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { organizationIsActive } from "../active-organization-store.ts";
import type { OrganizationId } from "../ids-domain.ts";
import {
  type DataRetentionOwner,
  DataRetentionPolicy,
  dataRetentionPolicyNotFound,
  type OwnedDataRetentionPolicy,
  type WorkspaceRetention,
} from "./domain.ts";

const entity = new EntitySchema({
  class: DataRetentionPolicy,
  tableName: "data_retention_policies",
  properties: {
    id: primaryKey,
    organizationId: optional(text),
    workspaceId: optional(text),
    kind: text,
    // The ORM's naming strategy would not put an underscore before a single letter ("n").
    deleteOlderThanNDays: { ...optional(integer), fieldName: "delete_older_than_n_days" },
    stateVersionsDeleteAfterNDays: {
      ...optional(integer),
      fieldName: "state_versions_delete_after_n_days",
    },
    revision: bigint,
  },
});

/** Returns the SQL for the days after which the policy `policy` deletes state versions; null if it keeps them. */
const stateVersionDays = (policy: string): string =>
  `coalesce(${policy}.state_versions_delete_after_n_days, ${policy}.delete_older_than_n_days)`;

const ofSite = "r.organization_id is null and r.workspace_id is null";

const policyWhere = (condition: string): string =>
  `(select json_build_object('id', r.id, 'kind', r.kind,
      'deleteOlderThanNDays', r.delete_older_than_n_days,
      'stateVersionsDeleteAfterNDays', r.state_versions_delete_after_n_days)
    from data_retention_policies r where ${condition})`;

/** Selects the policy for which `condition` holds, as one JSON column; null if there is none. */
export const ownDataRetentionPolicy = (condition: string): string =>
  `${policyWhere(condition)} as "dataRetentionPolicy"`;

/** Selects the installation's policy, as one JSON column; null if there is none. */
export const siteDataRetentionPolicy = `${policyWhere(ofSite)} as "siteDataRetentionPolicy"`;

/**
 * Selects the number of days after which the effective policy of the workspace row `workspace` deletes state versions;
 * null if there is no policy, or if the policy deletes nothing.
 */
export const effectiveRetentionDays = (workspace: string): string =>
  `(select ${stateVersionDays("r")} from data_retention_policies r
    where r.workspace_id = ${workspace}.id or r.organization_id = ${workspace}.organization_id
      or (${ofSite})
    order by r.workspace_id nulls last, r.organization_id nulls last limit 1
  ) as "effectiveRetentionDays"`;

const columns = `r.id, r.kind, r.delete_older_than_n_days as "deleteOlderThanNDays",
  r.state_versions_delete_after_n_days as "stateVersionsDeleteAfterNDays"`;

const reads = (database: Database) => ({
  /**
   * Returns the policy that applies: the workspace's or, if it has none, the organization's, or else the
   * installation's.
   */
  async effective(
    organizationId: string | null,
    workspaceId: string | null,
  ): Promise<OwnedDataRetentionPolicy | undefined> {
    const [row] = await database.query<OwnedDataRetentionPolicy>(
      // index: data_retention_policies_workspace, _organization, _site, organizations_pkey
      `select ${columns}, r.workspace_id as "workspaceId", o.name as "organizationName"
       from data_retention_policies r left join organizations o on o.id = r.organization_id
       where r.workspace_id = $2 or r.organization_id = $1 or (${ofSite})
       order by r.workspace_id nulls last, r.organization_id nulls last limit 1`,
      [organizationId, workspaceId],
    );
    return row;
  },

  /** Returns the retention of each of the workspaces, in one statement. Unknown workspaces are omitted. */
  async ofWorkspaces(
    ids: readonly string[],
  ): Promise<{ retentions: WorkspaceRetention[]; version: bigint }> {
    const rows = await database.query<WorkspaceRetention & { version: number }>(
      // index: workspaces_pkey, data_retention_policies_workspace, _organization, _site
      `select g.retention_version as version, w.id as "workspaceId", w.organization_id as "organizationId", o.plan,
         case
           when own.id is not null then ${stateVersionDays("own")}
           when shared.id is not null then ${stateVersionDays("shared")}
           else ${stateVersionDays("site")}
         end as "deleteOlderThanNDays"
       from workspaces w
       cross join general_settings g
       join organizations o on o.id = w.organization_id
       left join data_retention_policies own on own.workspace_id = w.id
       left join data_retention_policies shared on shared.organization_id = w.organization_id
       left join data_retention_policies site
         on site.organization_id is null and site.workspace_id is null
       where w.id = any($1)`,
      [ids],
    );
    const retentions = rows.map(({ version: _, ...retention }) => retention);
    return { retentions, version: BigInt(rows[0]?.version ?? 0) };
  },
});

/** Reads and writes of policies, inside a transaction that holds the lock on their owner's row. */
const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, dataRetentionPolicyNotFound);

  return {
    ...records,

    /**
     * Increments and returns the retention version, which covers all policies and plans. Concurrent changes wait until
     * this transaction ends.
     */
    async nextVersion(now: Date): Promise<bigint> {
      const [row] = await queryIn<{ version: number }>(
        em,
        `update general_settings set retention_version = greatest(retention_version + 1, $1)
       returning retention_version as version`,
        [nextVersion(0n, now)],
      );
      if (!row) throw new Error("the row of general settings is missing");
      return BigInt(row.version);
    },

    async findForUpdate(owner: DataRetentionOwner): Promise<DataRetentionPolicy | undefined> {
      const own = owner === "site" ? { organizationId: null, workspaceId: null } : { ...owner };
      // The installation has no row that could be locked. The row of the general settings is locked instead, so that two
      // transactions cannot create the installation's policy concurrently.
      if (owner === "site") {
        await queryIn(em, "select from general_settings for update");
      }
      return records.findForUpdate(own);
    },
  };
};

/** The values of a policy's events. They contain the organization even if the policy belongs to a workspace. */
type PublishedPolicy = Omit<DataRetentionPolicy, "organizationId"> & {
  /** The organization of the policy's owner; null for the installation. */
  organizationId: OrganizationId | null;
};

const organizationOfPolicy = "coalesce(r.organization_id, w.organization_id)";

const targetOf = ({ id, organizationId, workspaceId, revision }: PublishedPolicy) => ({
  dataRetentionPolicyId: id,
  organizationId: organizationId ?? "",
  workspaceId: workspaceId ?? "",
  revision,
});

export const dataRetentionPolicySet = (policy: PublishedPolicy) => {
  const { id, kind, deleteOlderThanNDays, stateVersionsDeleteAfterNDays } = policy;
  return published(DataRetentionPolicySetSchema, id, {
    ...targetOf(policy),
    kind,
    ...(deleteOlderThanNDays === null ? {} : { deleteOlderThanNDays }),
    ...(stateVersionsDeleteAfterNDays === null ? {} : { stateVersionsDeleteAfterNDays }),
  });
};

export const dataRetentionPolicyDeleted = (policy: PublishedPolicy) =>
  published(DataRetentionPolicyDeletedSchema, policy.id, targetOf(policy));

export const dataRetentionPolicies = {
  entity,
  reads,
  rows,
  deletedWithOrganization: "data_retention_policies",
  listed: listed({
    schemas: [DataRetentionPolicySetSchema],
    // index: data_retention_policies_pkey, workspaces_pkey, organizations_pkey
    from: "data_retention_policies r left join workspaces w on w.id = r.workspace_id",
    key: ["r.id"],
    columns: `${organizationOfPolicy} as "organizationId", r.workspace_id as "workspaceId", ${columns}`,
    organization: `coalesce(${organizationOfPolicy}, '_')`,
    revision: "r.revision",
    isListed: `${organizationOfPolicy} is null or ${organizationIsActive(organizationOfPolicy)}`,
    events: (policy: PublishedPolicy) => [dataRetentionPolicySet(policy)],
  }),
};
