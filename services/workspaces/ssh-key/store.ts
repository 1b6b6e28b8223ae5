import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  offsetOf,
  type Page,
  type PageInput,
  recordsOf,
  type SealedColumn,
  withTotal,
} from "@statehouse/postgres";
import { bigint, primaryKey, text, timestamptz } from "@statehouse/postgres/columns";
import {
  SshKeyCreatedSchema,
  SshKeyDeletedSchema,
  SshKeyUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { organizationIsActive } from "../active-organization-store.ts";
import type { OrganizationId, SshKeyId } from "../ids-domain.ts";
import { SshKey, sshKeyLocation, sshKeyNotFound } from "./domain.ts";

const columns = {
  id: primaryKey,
  organizationId: text,
  name: text,
  sealedValue: text,
  revision: bigint,
  createdAt: timestamptz,
};

const entity = new EntitySchema({ class: SshKey, tableName: "ssh_keys", properties: columns });

/** The values of an SSH key's document, which omits the private key. */
export type SshKeyView = Pick<SshKey, "id" | "organizationId" | "name">;

const view = `select k.id, k.organization_id as "organizationId", k.name from ssh_keys k`;

/** Reads of SSH keys of active organizations, outside any transaction. */
const reads = (database: Database) => ({
  async find(id: SshKeyId): Promise<SshKeyView | undefined> {
    const [row] = await database.query<SshKeyView>(
      // index: ssh_keys_pkey
      `${view} join organizations o on o.id = k.organization_id
       where k.id = $1 and o.status = 'active'`,
      [id],
    );
    return row;
  },

  async page(organizationId: OrganizationId, page: PageInput): Promise<Page<SshKeyView>> {
    return database.page<SshKeyView>(
      // index: ssh_keys_organization
      withTotal({
        count: "select count(*) as total from ssh_keys where organization_id = $1",
        select: `${view} where k.organization_id = $1 order by k.name, k.id limit $2 offset $3`,
        order: "listed.name, listed.id",
      }),
      [organizationId, page.size, offsetOf(page)],
    );
  },
});

/** Reads and writes of SSH keys inside a transaction. */
const rows = (em: EntityManager) => recordsOf(em, entity, sshKeyNotFound);

/** The column of private keys, which `rotate-keys` re-encrypts. */
export const sealedSshKeys: SealedColumn = {
  table: "ssh_keys",
  column: "sealed_value",
  locationOf: sshKeyLocation,
};

type Owned = Pick<SshKey, "id" | "organizationId" | "revision">;

/** The fields of an event, which must not contain the private key. */
const fieldsOf = ({ id, organizationId, revision }: Owned) => ({
  sshKeyId: id,
  organizationId,
  revision,
});

export const sshKeyCreated = (sshKey: Owned) =>
  published(SshKeyCreatedSchema, sshKey.id, fieldsOf(sshKey));

export const sshKeyUpdated = (sshKey: SshKey) =>
  published(SshKeyUpdatedSchema, sshKey.id, fieldsOf(sshKey), sshKey, { sealedValue: "value" });

export const sshKeyDeleted = (sshKey: SshKey) =>
  published(SshKeyDeletedSchema, sshKey.id, fieldsOf(sshKey));

export const sshKeys = {
  entity,
  reads,
  rows,
  deletedWithOrganization: "ssh_keys",
  listed: listed({
    schemas: [SshKeyCreatedSchema],
    // index: ssh_keys_pkey, organizations_pkey
    from: "ssh_keys t",
    columns: `t.id, t.organization_id as "organizationId"`,
    isListed: organizationIsActive("t.organization_id"),
    events: (sshKey: Owned) => [sshKeyCreated(sshKey)],
  }),
};
