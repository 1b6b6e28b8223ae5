import type { Database, EntityManager } from "@statehouse/postgres";
import { newId, offsetOf, type PageInput, queryIn } from "@statehouse/postgres";
import type { OrganizationId, TagId, WorkspaceId } from "../domain/ids.ts";
import type { Tag } from "../domain/tag.ts";

/** Reads of flat tags, outside any transaction. */
export const tagReads = (database: Database) => ({
  async countOfWorkspace(workspaceId: WorkspaceId): Promise<number> {
    const [row] = await database.query<{ count: number }>(
      // index: tag_bindings_workspace_key
      "select count(*) from tag_bindings where workspace_id = $1 and value = ''",
      [workspaceId],
    );
    return row?.count ?? 0;
  },

  async pageOfWorkspace(workspaceId: WorkspaceId, page: PageInput): Promise<Tag[]> {
    return database.query<Tag>(
      // index: tag_bindings_workspace_key, tags_name_key, tag_bindings_tagged
      `select t.id, t.name, o.name as "organizationName",
         (select count(*) from tag_bindings u
          where u.organization_id = t.organization_id and u.key = t.name and u.value = ''
            and u.workspace_id is not null) as "instanceCount"
       from tag_bindings b
       join tags t on t.organization_id = b.organization_id and t.name = b.key
       join organizations o on o.id = t.organization_id
       where b.workspace_id = $1 and b.value = ''
       order by t.name limit $2 offset $3`,
      [workspaceId, page.size, offsetOf(page)],
    );
  },
});

/**
 * The ids of flat tags, inside a transaction. Whoever gives a workspace a tag locks the tag's row, and
 * whoever may remove the last one locks it before looking: otherwise a tag in use could lose its id.
 */
export const tagRows = (em: EntityManager) => ({
  async ensure(organizationId: OrganizationId, names: readonly string[], now: Date): Promise<void> {
    if (names.length === 0) return;
    // In one order everywhere, against deadlocks.
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
    // A statement of its own: only now can it see what was committed while we waited for the locks.
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

  /** The names of those of the organization's tags that have these ids. */
  async namesOf(
    organizationId: OrganizationId,
    ids: readonly string[],
  ): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await queryIn<{ id: TagId; name: string }>(
      em,
      // index: tags_pkey
      "select id, name from tags where organization_id = $1 and id = any($2)",
      [organizationId, ids],
    );
    return new Map(rows.map(({ id, name }) => [id, name]));
  },
});
