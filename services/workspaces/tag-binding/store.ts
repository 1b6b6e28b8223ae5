import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import type { OrganizationId, Placed, ProjectId, WorkspaceId } from "../ids-domain.ts";
import { tagRows } from "../tag/store.ts";
import type { EffectiveTagBinding, ProjectTagBinding, TagBinding, TagBindingId } from "./domain.ts";

/** The project or workspace that owns the bindings. */
export type TagBindingOwner = { organizationId: OrganizationId } & (
  | { workspaceId: WorkspaceId }
  | { projectId: ProjectId }
);

const columns = `id, key, value, through_tags as "throughTags", created_at as "createdAt"`;

/** SQL for the bindings of one project or workspace, ordered by key. */
const ofProject =
  // index: tag_bindings_project_key
  `select ${columns} from tag_bindings where project_id = $1 order by key`;
const ofWorkspace =
  // index: tag_bindings_workspace_key
  `select ${columns} from tag_bindings where workspace_id = $1 order by key`;

/** Reads of bindings, outside any transaction. */
const reads = (database: Database) => ({
  ofProject: (projectId: ProjectId): Promise<TagBinding[]> =>
    database.query(ofProject, [projectId]),

  /** Returns the bindings of these projects, ordered by project and key. */
  async ofProjects(
    projectIds: readonly string[],
  ): Promise<(ProjectTagBinding & Pick<Placed, "organizationId">)[]> {
    return database.query(
      // index: tag_bindings_project_key
      `select ${columns}, project_id as "projectId", organization_id as "organizationId"
       from tag_bindings where project_id = any($1) order by project_id, key`,
      [projectIds],
    );
  },

  ofWorkspace: (workspaceId: WorkspaceId): Promise<TagBinding[]> =>
    database.query(ofWorkspace, [workspaceId]),

  /**
   * Returns the workspaces' own bindings and those inherited from their projects, ordered by workspace and key. A
   * workspace's own binding or flat tag of a key replaces the project's binding. Flat tags are not effective bindings.
   */
  async effectiveOfWorkspaces(
    workspaceIds: readonly string[],
  ): Promise<(EffectiveTagBinding & Placed)[]> {
    return database.query<EffectiveTagBinding & Placed>(
      // index: workspaces_pkey, tag_bindings_workspace_key, tag_bindings_project_key
      `select * from (
         select distinct on (w.id, b.key) b.id, b.key, b.value, b.through_tags as "throughTags",
           b.created_at as "createdAt", b.project_id as "inheritedFromProjectId",
           w.id as "workspaceId", w.organization_id as "organizationId", w.project_id as "projectId"
         from workspaces w
         join tag_bindings b on b.workspace_id = w.id or b.project_id = w.project_id
         where w.id = any($1)
         order by w.id, b.key, b.workspace_id nulls last
       ) effective where not "throughTags"`,
      [workspaceIds],
    );
  },
});

/** Reads and writes of bindings, inside a transaction that holds the lock on their owner's row. */
const rows = (em: EntityManager) => ({
  ofProject: (projectId: ProjectId): Promise<TagBinding[]> => queryIn(em, ofProject, [projectId]),

  ofWorkspace: (workspaceId: WorkspaceId): Promise<TagBinding[]> =>
    queryIn(em, ofWorkspace, [workspaceId]),

  /**
   * Replaces the bindings `current` with `after`, a map from key to value, and inserts or deletes the rows of flat
   * tags (`tags`). `tagKeys` are the keys that are flat tags afterwards; if it is omitted, there are none. Returns the
   * bindings afterwards, by key.
   */
  async replace(
    owner: TagBindingOwner,
    current: readonly TagBinding[],
    after: ReadonlyMap<string, string>,
    { now, tagKeys = new Set() }: { now: Date; tagKeys?: ReadonlySet<string> },
  ): Promise<Map<string, TagBinding>> {
    const removed = current.filter(({ key }) => !after.has(key)).map(({ id }) => id);
    const before = new Map(current.map((binding) => [binding.key, binding]));
    const changed = [...after]
      .filter(([key, value]) => {
        const binding = before.get(key);
        return binding?.value !== value || binding.throughTags !== tagKeys.has(key);
      })
      .map(([key, value]) => ({ key, value, throughTags: tagKeys.has(key) }));
    const written =
      removed.length + changed.length > 0 ? await write(em, owner, { removed, changed }, now) : [];
    const kept = current.filter(({ key }) => after.has(key));
    const stored = new Map([...kept, ...written].map((binding) => [binding.key, binding]));
    if (!("workspaceId" in owner)) return stored;
    const flatBefore = new Set(current.filter(({ value }) => value === "").map(({ key }) => key));
    const flatNow = new Set([...after].filter(([, value]) => value === "").map(([key]) => key));
    const tags = tagRows(em);
    // Also those of bindings that were flat before: the deletion of a tag in the organization, which does not lock the
    // workspace, can have deleted both in the meantime, and the binding is written again.
    const flat = changed.filter(({ value }) => value === "").map(({ key }) => key);
    await tags.ensure(owner.organizationId, flat, now);
    await tags.dropUnused(owner.organizationId, [...flatBefore.difference(flatNow)]);
    return stored;
  },
});

interface ChangedBindings {
  removed: readonly TagBindingId[];
  changed: readonly Pick<TagBinding, "key" | "value" | "throughTags">[];
}

/** Deletes the removed bindings, inserts or updates the changed ones, and returns these. */
async function write(
  em: EntityManager,
  owner: TagBindingOwner,
  { removed, changed }: ChangedBindings,
  now: Date,
): Promise<TagBinding[]> {
  const conflict = "workspaceId" in owner ? "workspace_id" : "project_id";
  return queryIn<TagBinding>(
    em,
    // index: tag_bindings_pkey, tag_bindings_workspace_key, tag_bindings_project_key
    `with removed as (delete from tag_bindings where id = any($9))
     insert into tag_bindings
       (id, organization_id, workspace_id, project_id, key, value, through_tags, created_at)
     select given.id, $1, $2, $3, given.key, given.value, given.through_tags, $4
     from unnest($5::text[], $6::text[], $7::text[], $8::boolean[])
       as given (id, key, value, through_tags)
     on conflict (${conflict}, key)
       do update set value = excluded.value, through_tags = excluded.through_tags
     returning ${columns}`,
    [
      owner.organizationId,
      "workspaceId" in owner ? owner.workspaceId : null,
      "projectId" in owner ? owner.projectId : null,
      now,
      changed.map(() => newId("tb")),
      changed.map(({ key }) => key),
      changed.map(({ value }) => value),
      changed.map(({ throughTags }) => throughTags),
      removed,
    ],
  );
}

// Bindings are deleted with their workspace or project.
export const tagBindings = { reads, rows };
