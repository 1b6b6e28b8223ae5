import { published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  type Page,
  type PageInput,
  queryIn,
  withTotal,
} from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import { TagDeletedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { OrganizationId, WorkspaceId } from "../ids-domain.ts";
import { containing, Parameters } from "../parameters-store.ts";
import { type ReadScope, readableWorkspaces } from "../read-scope-store.ts";
import { type Tag, type TagId, tagNotFound } from "./domain.ts";

/** Returns the SQL for the bindings `u` through which workspaces that the caller may read have the flat tag `t`. */
function uses(readable: ReadScope, parameters: Parameters): string {
  // index: tag_bindings_tagged
  const all = `tag_bindings u where u.organization_id = t.organization_id and u.key = t.name
    and u.value = '' and u.workspace_id is not null`;
  if (readable.organizationIds.length > 0) return all;
  // index: workspaces_pkey
  return `${all} and exists (select from workspaces w
    where w.id = u.workspace_id and ${readableWorkspaces(readable, parameters)})`;
}

const columns = (count: string) => `t.id, t.name, o.name as "organizationName",
  t.created_at as "createdAt", ${count} as "instanceCount"`;

const countOfUses = (readable: ReadScope, parameters: Parameters) =>
  `(select count(*) from ${uses(readable, parameters)})`;

/**
 * Selects an organization's tags `t` and the number of workspaces that have each tag. If the caller cannot read all
 * workspaces, the numbers for all tags are computed together, in one subquery.
 */
function tagsUsed(
  { organizationId, readable }: TagsOfOrganization,
  parameters: Parameters,
): { from: string; count: string } {
  // Every tag has at least one workspace, so a caller that may read all workspaces sees all tags.
  if (readable.organizationIds.length > 0) {
    return { from: "tags t", count: countOfUses(readable, parameters) };
  }
  // index: tag_bindings_tagged, workspaces_pkey, or workspaces_project_name and tag_bindings_workspace_key
  const used = `(select u.key, count(*) as uses from tag_bindings u
    join workspaces w on w.id = u.workspace_id
    where u.organization_id = ${parameters.bind(organizationId)} and u.value = ''
      and ${readableWorkspaces(readable, parameters)} group by u.key)`;
  return { from: `${used} used join tags t on t.name = used.key`, count: "used.uses" };
}

export interface TagsOfOrganization {
  organizationId: OrganizationId;
  /**
   * The workspaces of this organization that the caller may read. Tags of other workspaces are neither shown nor
   * counted.
   */
  readable: ReadScope;
  /** Part of the tag's name; empty matches all. */
  query: string;
  /** If set, omits the tags of this workspace. */
  excludeWorkspaceId: WorkspaceId | undefined;
  page: PageInput;
}

const conditions = (search: TagsOfOrganization, parameters: Parameters): string => {
  const all = [`t.organization_id = ${parameters.bind(search.organizationId)}`];
  if (search.query) all.push(`t.name ilike ${parameters.bind(containing(search.query))}`);
  if (search.excludeWorkspaceId) {
    // index: tag_bindings_workspace_key
    all.push(`not exists (select from tag_bindings b
      where b.workspace_id = ${parameters.bind(search.excludeWorkspaceId)}
        and b.key = t.name and b.value = '')`);
  }
  return all.join(" and ");
};

/** Reads of flat tags, outside any transaction. */
const reads = (database: Database) => ({
  async pageOfOrganization(search: TagsOfOrganization): Promise<Page<Tag>> {
    const parameters = new Parameters();
    const { from, count } = tagsUsed(search, parameters);
    const matches = conditions(search, parameters);
    return database.page<Tag>(
      // index: tags_name_key, tag_bindings_tagged
      withTotal({
        count: `select count(*) as total from ${from} where ${matches}`,
        select: `select ${columns(count)}
          from ${from} join organizations o on o.id = t.organization_id
          where ${matches} order by t.name
          ${parameters.limits(search.page)}`,
        order: "listed.name",
      }),
      parameters.values,
    );
  },

  async pageOfWorkspace(
    workspaceId: WorkspaceId,
    readable: ReadScope,
    page: PageInput,
  ): Promise<Page<Tag>> {
    const parameters = new Parameters();
    const matches = `b.workspace_id = ${parameters.bind(workspaceId)} and b.value = ''`;
    return database.page<Tag>(
      // index: tag_bindings_workspace_key, tags_name_key, tag_bindings_tagged
      withTotal({
        count: `select count(*) as total from tag_bindings b where ${matches}`,
        select: `select ${columns(countOfUses(readable, parameters))}
          from tag_bindings b
          join tags t on t.organization_id = b.organization_id and t.name = b.key
          join organizations o on o.id = t.organization_id
          where ${matches} order by t.name
          ${parameters.limits(page)}`,
        order: "listed.name",
      }),
      parameters.values,
    );
  },
});

/**
 * Reads and writes of the rows of flat tags, inside a transaction. A transaction that adds a tag to a workspace locks
 * the tag's row. A transaction that removes a tag from a workspace also locks the row, before it checks whether other
 * workspaces have the tag. Without these locks, the row of a tag that is in use could be deleted.
 */
export const tagRows = (em: EntityManager) => ({
  async ensure(organizationId: OrganizationId, names: readonly string[], now: Date): Promise<void> {
    if (names.length === 0) return;
    // All transactions lock tags in the same order, to prevent deadlocks.
    const sorted = names.toSorted();
    await queryIn(
      em,
      // index: tags_name_key. The update changes nothing: it takes the lock.
      `insert into tags (id, organization_id, name, created_at)
       select given.id, $1, given.name, $2 from unnest($3::text[], $4::text[]) as given (id, name)
       on conflict (organization_id, name) do update set name = excluded.name`,
      [organizationId, now, sorted.map(() => newId("tag")), sorted],
    );
  },

  async dropUnused(organizationId: OrganizationId, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const locked = await queryIn<{ id: TagId }>(
      em,
      // index: tags_name_key
      `select id from tags where organization_id = $1 and name = any($2)
       order by name collate "C" for update`,
      [organizationId, names],
    );
    // This is a separate statement, because only a new statement can read rows that were committed while the previous
    // one waited for the locks.
    await queryIn(
      em,
      // index: tags_pkey, tag_bindings_tagged
      `delete from tags t where t.id = any($1) and not exists (
         select from tag_bindings b
         where b.organization_id = t.organization_id and b.key = t.name and b.value = ''
           and b.workspace_id is not null)`,
      [locked.map(({ id }) => id)],
    );
  },

  async get(id: TagId): Promise<{ id: TagId; organizationId: OrganizationId; name: string }> {
    const [row] = await queryIn<{ id: TagId; organizationId: OrganizationId; name: string }>(
      em,
      // index: tags_pkey
      `select id, organization_id as "organizationId", name from tags where id = $1`,
      [id],
    );
    if (!row) throw tagNotFound();
    return row;
  },

  /** Removes the tags from every workspace and returns the tags that existed. */
  async remove(
    organizationId: OrganizationId,
    ids: readonly TagId[],
  ): Promise<{ id: TagId; name: string }[]> {
    const found = await queryIn<{ id: TagId; name: string }>(
      em,
      // index: tags_pkey
      `select id, name from tags where organization_id = $1 and id = any($2)
       order by name collate "C" for update`,
      [organizationId, ids],
    );
    await queryIn(
      em,
      // index: tag_bindings_tagged
      `delete from tag_bindings where organization_id = $1 and key = any($2) and value = ''
         and workspace_id is not null`,
      [organizationId, found.map(({ name }) => name)],
    );
    // A transaction that adds one of these tags waits for the lock on its row, and then creates the tag again.
    await queryIn(em, "delete from tags where id = any($1)", [found.map(({ id }) => id)]);
    return found;
  },

  /**
   * Returns the names of the organization's tags among `ids`, by id. A tag is omitted unless the caller may read a
   * workspace that has it.
   */
  async namesOf(
    organizationId: OrganizationId,
    ids: readonly string[],
    readable: ReadScope,
  ): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const parameters = new Parameters();
    const rows = await queryIn<{ id: TagId; name: string }>(
      em,
      // index: tags_pkey
      `select t.id, t.name from tags t where t.organization_id = ${parameters.bind(organizationId)}
         and t.id = any(${parameters.bind(ids)})
         and exists (select from ${uses(readable, parameters)})`,
      parameters.values,
    );
    return new Map(rows.map(({ id, name }) => [id, name]));
  },
});

/** The tag of an event that is published when a request deletes a tag from all workspaces of the organization. */
interface DeletedTag {
  id: TagId;
  organizationId: OrganizationId;
  name: string;
  revision: bigint;
}

export const tagDeleted = ({ id, organizationId, name, revision }: DeletedTag) =>
  published(TagDeletedSchema, id, { tagId: id, organizationId, name, revision });

export const tags = {
  reads,
  rows: tagRows,
  deletedWithOrganization: "tags",
  // Tags are not listed, because the only event of a tag is its deletion.
  listed: null,
};
