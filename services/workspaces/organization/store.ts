import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  existsIn,
  offsetOf,
  type Page,
  type PageInput,
  queryIn,
  recordsOf,
  withTotal,
} from "@statehouse/postgres";
import {
  bigint,
  boolean,
  integer,
  optional,
  primaryKey,
  selectList,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import {
  OrganizationCreatedSchema,
  OrganizationDeletedSchema,
  OrganizationUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { ownDataRetentionPolicy, siteDataRetentionPolicy } from "../data-retention-policy/store.ts";
import { nameTaken } from "../errors-domain.ts";
import type { OrganizationId } from "../ids-domain.ts";
import { containing } from "../parameters-store.ts";
import { type WithNumericVersion, withVersion } from "../version-store.ts";
import {
  type CredentialSettings,
  isOrganizationName,
  Organization,
  type OrganizationView,
  organizationNotFound,
  type VersionedCredentialSettings,
} from "./domain.ts";
import { type Plan, planTable } from "./plan-domain.ts";

/** The settings that the access service enforces. */
const credentialColumns = {
  userTokensEnabled: boolean,
  maxTtlEnabled: boolean,
} satisfies Record<keyof CredentialSettings, unknown>;

/** The columns that are part of an organization's document. */
const columns = {
  id: primaryKey,
  name: text,
  email: text,
  defaultProjectId: text,
  defaultExecutionMode: text,
  defaultAgentPoolId: optional(text),
  allowForceDeleteWorkspaces: boolean,
  assessmentsEnforced: boolean,
  ...credentialColumns,
  collaboratorAuthPolicy: text,
  costEstimationEnabled: boolean,
  sendPassingStatusesForUntriggeredSpeculativePlans: boolean,
  aggregatedCommitStatusEnabled: boolean,
  speculativePlanManagementEnabled: boolean,
  sessionTimeout: optional(integer),
  sessionRemember: optional(integer),
  ownersTeamSamlRoleId: optional(text),
  plan: text,
  workspaceLimit: optional(integer),
  createdAt: timestamptz,
};

const entity = new EntitySchema({
  class: Organization,
  tableName: "organizations",
  properties: {
    ...columns,
    status: text,
    creatorUserId: text,
    retryAt: timestamptz,
    revision: bigint,
    updatedAt: timestamptz,
  },
});

const composeView = (organizations: string) => `
  select ${selectList("o", columns)},
    -- index: projects_name_key
    (select count(*) from projects p where p.organization_id = o.id) as "projectCount",
    -- index: workspace_counts_pkey
    (select coalesce(sum(c.count), 0) from workspace_counts c where c.organization_id = o.id)
      as "workspaceCount",
    -- index: data_retention_policies_site
    ${siteDataRetentionPolicy},
    -- index: data_retention_policies_organization
    ${ownDataRetentionPolicy("r.organization_id = o.id")}
  from ${organizations} o`;

const view = composeView("organizations");
const changedView = composeView("changed");

/** The billing of an organization's plan, with the revision of the organization's row. */
export interface OrganizationBilling {
  organizationId: OrganizationId;
  usageBased: boolean;
  revision: bigint;
}

export interface OrganizationSearch {
  /** The organizations that the caller belongs to. */
  ids: readonly string[];
  /** Part of the organization's name or of its e-mail address; empty matches all. */
  query: string;
  /** Part of the organization's name; empty matches all. */
  name: string;
  /** Part of the organization's e-mail address; empty matches all. */
  email: string;
  /** Undefined returns all matching organizations. */
  page: PageInput | undefined;
}

export type OrganizationsOfAll = Pick<OrganizationSearch, "query"> & { page: PageInput };

/** Reads of active organizations, outside any transaction. */
const reads = (database: Database) => ({
  /** Returns the settings that the access service enforces. The organization may still be provisioning. */
  async findCredentialSettings(id: string): Promise<VersionedCredentialSettings | undefined> {
    const [row] = await database.query<WithNumericVersion<VersionedCredentialSettings>>(
      // index: organizations_pkey
      `select o.id as "organizationId", o.revision as version,
         ${selectList("o", credentialColumns)}
       from organizations o where o.id = $1 and o.status <> 'deleting'`,
      [id],
    );
    return row && withVersion(row);
  },

  async batchBilling(ids: readonly string[]): Promise<OrganizationBilling[]> {
    const rows = await database.query<{ id: OrganizationId; plan: Plan; revision: number }>(
      // index: organizations_pkey
      `select id, plan, revision from organizations
       where id = any($1) and status = 'active'`,
      [ids],
    );
    return rows.map(({ id, plan, revision }) => ({
      organizationId: id,
      usageBased: planTable[plan].usageBased,
      revision: BigInt(revision),
    }));
  },

  async findByName(name: string): Promise<OrganizationView | undefined> {
    if (!isOrganizationName(name)) return undefined;
    const [row] = await database.query<OrganizationView>(
      // index: organizations_name_key
      `${view} where o.name = $1 and o.status = 'active'`,
      [name],
    );
    return row;
  },

  async page({
    ids,
    query,
    name,
    email,
    page,
  }: OrganizationSearch): Promise<Page<OrganizationView>> {
    // index: organizations_pkey
    const matches = `o.id = any($1) and o.status = 'active'
      and (o.name ilike $2 or o.email ilike $2) and o.name ilike $5 and o.email ilike $6`;
    return database.page<OrganizationView>(
      withTotal({
        count: `select count(*) as total from organizations o where ${matches}`,
        select: `${view} where ${matches} order by o.name limit $3 offset $4`,
        order: "listed.name",
      }),
      [
        ids,
        containing(query),
        page?.size ?? null,
        page ? offsetOf(page) : 0,
        containing(name),
        containing(email),
      ],
    );
  },

  /** Returns a page of all organizations, for administrators. The caller need not belong to them. */
  async pageOfAll({ query, page }: OrganizationsOfAll): Promise<Page<OrganizationView>> {
    const matches = "o.status = 'active' and o.name ilike $1";
    return database.page<OrganizationView>(
      // index: organizations_name_key, read in the order of the index
      withTotal({
        count: `select count(*) as total from organizations o where ${matches}`,
        select: `${view} where ${matches} order by o.name limit $2 offset $3`,
        order: "listed.name",
      }),
      [containing(query), page.size, offsetOf(page)],
    );
  },

  async batch(ids: readonly string[]): Promise<OrganizationView[]> {
    return database.query<OrganizationView>(
      // index: organizations_pkey
      `${view} where o.id = any($1) and o.status = 'active'`,
      [ids],
    );
  },
});

/** Reads and writes of organizations inside a transaction. */
const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, organizationNotFound);

  return {
    ...records,

    /** Locks and returns an organization in any status, because its name is taken as soon as its row exists. */
    findByNameForUpdate: async (name: string): Promise<Organization | undefined> =>
      // index: organizations_name_key
      isOrganizationName(name) ? records.findForUpdate({ name }) : undefined,

    /**
     * Returns an active organization. Locks its row against changes until the transaction ends, so that a later deletion
     * includes everything that this transaction adds.
     */
    async getByName(name: string): Promise<Organization> {
      if (!isOrganizationName(name)) throw organizationNotFound();
      // index: organizations_name_key
      return records.getForShare({ name, status: "active" });
    },

    /** Locks the row of an active organization and returns the organization. */
    async getByNameForUpdate(name: string): Promise<Organization> {
      const organization = await this.findByNameForUpdate(name);
      if (organization?.status !== "active") throw organizationNotFound();
      return organization;
    },

    /** Returns whether another organization has the name, ignoring case. */
    async nameTaken(name: string, id: OrganizationId): Promise<boolean> {
      return existsIn(
        em,
        // index: organizations_lower_name_key
        "select from organizations where lower(name) = lower($1) and id <> $2",
        [name, id],
      );
    },

    /** Returns the values of the organization's document, including the saved changes of this transaction. */
    async view(id: OrganizationId): Promise<OrganizationView> {
      // index: organizations_pkey
      const [row] = await queryIn<OrganizationView>(em, `${view} where o.id = $1`, [id]);
      if (!row) throw organizationNotFound();
      return row;
    },

    /** Writes the organization and commits. Returns the values of its document. */
    commit: (organization: Organization): Promise<OrganizationView> =>
      // index: organizations_pkey
      records.commit<OrganizationView>(organization, changedView),
  };
};

type Created = Pick<Organization, "id" | "name" | "creatorUserId" | "plan" | "revision">;

const fieldsOf = ({ id, name, plan, revision }: Created) => ({
  organizationId: id,
  name,
  usageBasedBilling: planTable[plan].usageBased,
  revision,
});

export const organizationCreated = (organization: Created) =>
  published(OrganizationCreatedSchema, organization.id, {
    ...fieldsOf(organization),
    creatorUserId: organization.creatorUserId,
  });

export const organizationUpdated = (organization: Organization) =>
  published(OrganizationUpdatedSchema, organization.id, fieldsOf(organization), organization);

export const organizationDeleted = ({ id, revision }: Organization) =>
  published(OrganizationDeletedSchema, id, { organizationId: id, revision });

export const organizations = {
  entity,
  reads,
  rows,
  uniqueErrors: {
    organizations_name_key: nameTaken,
    organizations_lower_name_key: nameTaken,
  },
  listed: listed({
    schemas: [OrganizationCreatedSchema],
    // index: organizations_pkey
    from: "organizations t",
    columns: `t.id, t.name, t.creator_user_id as "creatorUserId", t.plan`,
    organization: "t.id",
    where: "t.status = 'active'",
    events: (organization: Created) => [organizationCreated(organization)],
  }),
};
