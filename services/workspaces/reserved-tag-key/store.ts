import { EntitySchema } from "@mikro-orm/core";
import { invalid } from "@statehouse/errors";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
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
  primaryKey,
  selectList,
  text,
  timestamptz,
} from "@statehouse/postgres/columns";
import {
  ReservedTagKeyCreatedSchema,
  ReservedTagKeyDeletedSchema,
  ReservedTagKeyUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { organizationIsActive } from "../active-organization-store.ts";
import type { OrganizationId, ProjectId } from "../ids-domain.ts";
import type { TagBindingInput } from "../tag-binding/domain.ts";
import { ReservedTagKey, reservedTagKeyNotFound, takenKeyText } from "./domain.ts";

const columns = {
  id: primaryKey,
  organizationId: text,
  key: text,
  disableOverrides: boolean,
  revision: bigint,
  createdAt: timestamptz,
  updatedAt: timestamptz,
};

const entity = new EntitySchema({
  class: ReservedTagKey,
  tableName: "reserved_tag_keys",
  properties: columns,
});

/** The values of a reserved tag key's document. */
export type ReservedTagKeyView = Omit<ReservedTagKey, "organizationId" | "revision">;

const reads = (database: Database) => ({
  async page(organizationId: OrganizationId, page: PageInput): Promise<Page<ReservedTagKeyView>> {
    return database.page<ReservedTagKeyView>(
      // index: reserved_tag_keys_key
      withTotal({
        count: "select count(*) as total from reserved_tag_keys where organization_id = $1",
        select: `select ${selectList("k", columns)} from reserved_tag_keys k
          where k.organization_id = $1 order by k.key limit $2 offset $3`,
        order: "listed.key",
      }),
      [organizationId, page.size, offsetOf(page)],
    );
  },
});

/** Reads and writes of reserved tag keys inside a transaction. */
const rows = (em: EntityManager) => ({
  ...recordsOf(em, entity, reservedTagKeyNotFound),

  /** Returns the project's bindings that have one of these keys and that workspaces must not override. */
  async fixedBy(projectId: ProjectId, keys: readonly string[]): Promise<TagBindingInput[]> {
    return queryIn<TagBindingInput>(
      em,
      // index: tag_bindings_project_key, reserved_tag_keys_key
      `select b.key, b.value from tag_bindings b
       join reserved_tag_keys r on r.organization_id = b.organization_id and r.key = b.key
       where b.project_id = $1 and b.key = any($2) and r.disable_overrides order by b.key`,
      [projectId, keys],
    );
  },
});

type Owned = Pick<ReservedTagKey, "id" | "organizationId" | "key" | "revision">;

const fieldsOf = ({ id, organizationId, key, revision }: Owned) => ({
  reservedTagKeyId: id,
  organizationId,
  key,
  revision,
});

export const reservedTagKeyCreated = (row: Owned) =>
  published(ReservedTagKeyCreatedSchema, row.id, fieldsOf(row));

export const reservedTagKeyUpdated = (row: ReservedTagKey) =>
  published(ReservedTagKeyUpdatedSchema, row.id, fieldsOf(row), row);

export const reservedTagKeyDeleted = (row: ReservedTagKey) =>
  published(ReservedTagKeyDeletedSchema, row.id, fieldsOf(row));

export const reservedTagKeys = {
  entity,
  reads,
  rows,
  uniqueErrors: {
    reserved_tag_keys_key: () => invalid([{ field: "key", detail: takenKeyText }]),
  },
  deletedWithOrganization: "reserved_tag_keys",
  listed: listed({
    schemas: [ReservedTagKeyCreatedSchema],
    // index: reserved_tag_keys_pkey, organizations_pkey
    from: "reserved_tag_keys t",
    columns: `t.id, t.organization_id as "organizationId", t.key as "tagKey"`,
    isListed: organizationIsActive("t.organization_id"),
    // The column `key` of the row is its position in the listing.
    events: (row: Owned & { tagKey: string }) => [
      reservedTagKeyCreated({ ...row, key: row.tagKey }),
    ],
  }),
};
