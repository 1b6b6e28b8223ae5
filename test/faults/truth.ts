import type { DatabaseName } from "../stack/stack.ts";
import type { FaultFixture } from "./fixture.ts";

type Rows = Pick<FaultFixture, "rows">;
type Question = readonly [DatabaseName, string, string];

/** Queries for background work that must end by itself. Each returns work that has not ended. */
const underWay: readonly Question[] = [
  ["access", "not published", "select type || ' ' || subject as found from outbox"],
  ["workspaces", "not published", "select type || ' ' || subject as found from outbox"],
  ["state", "not published", "select type || ' ' || subject as found from outbox"],
  ["workspaces", "dead letter", "select type || ' ' || error as found from dead_letters"],
  ["state", "dead letter", "select type || ' ' || error as found from dead_letters"],
  [
    "workspaces",
    "not acknowledged by access",
    "select id as found from organizations where status <> 'active'",
  ],
  [
    "workspaces",
    "placement not acknowledged by state",
    "select id as found from workspaces where placement_acknowledged < placement_version",
  ],
  [
    "workspaces",
    "deletion not acknowledged by state",
    "select workspace_id as found from workspace_deletions where retry_at is not null",
  ],
  [
    "state",
    "not extracted",
    "select id as found from state_versions where extraction_due_at is not null",
  ],
  [
    "state",
    "dropped and not purged",
    `select workspace_id as found from workspace_states
     where dropped_at is not null and purged_at is null`,
  ],
  ["state", "bytes not deleted", "select key as found from blob_deletions"],
];

/** Queries for rows that must never exist. Each returns such rows. */
const forbidden: readonly Question[] = [
  [
    "state",
    "finalized without its content",
    `select v.id as found from state_versions v left join blobs b on b.key = v.blob_key
     where v.status in ('finalized', 'backing_data_soft_deleted') and (b.key is null or v.size is distinct from b.size
       or v.sha256 is distinct from b.sha256)`,
  ],
  [
    "state",
    "content without being finalized",
    `select id as found from state_versions
     where status not in ('finalized', 'backing_data_soft_deleted') and blob_key is not null`,
  ],
  [
    "state",
    "discarded or permanently deleted, but a JSON form, outputs or an extraction remain",
    `select v.id as found from state_versions v
     where v.status in ('discarded', 'backing_data_permanently_deleted')
       and (v.json_blob_key is not null or v.extraction_due_at is not null
         or exists (select from state_version_outputs o where o.state_version_id = v.id))`,
  ],
  [
    "state",
    "soft-deleted without a time, or a time without a soft deletion",
    `select id as found from state_versions
     where (status = 'backing_data_soft_deleted') <> (soft_deleted_at is not null)`,
  ],
  [
    "state",
    "JSON form incomplete",
    `select v.id as found from state_versions v left join blobs b on b.key = v.json_blob_key
     where num_nonnulls(v.json_blob_key, v.json_size, v.json_sha256) not in (0, 3)
       or (v.json_blob_key is not null and b.key is null)`,
  ],
  [
    "state",
    "wrong count of versions",
    `select coalesce(known.workspace_id, found.workspace_id) as found from state_version_counts known
     full join (select workspace_id, status, count(*) as count from state_versions group by 1, 2) found
       using (workspace_id, status)
     where coalesce(known.count, 0) <> coalesce(found.count, 0)`,
  ],
  [
    "state",
    "wrong count of a blob's references",
    `select key as found from blobs b where "references" <> (
       select count(*) from state_versions v where b.key in (v.blob_key, v.json_blob_key))`,
  ],
  [
    "state",
    "current version not the newest finalized one",
    `select w.workspace_id as found from workspace_states w where w.dropped_at is null
       and w.current_version_id is distinct from (
         select v.id from state_versions v where v.workspace_id = w.workspace_id
           and v.status = 'finalized' and not v.intermediate
         order by v.position desc limit 1)`,
  ],
  [
    "state",
    "extracted without exactly one output, which each state of these tests has",
    `select v.id as found from state_versions v where v.status = 'finalized'
       and v.extraction_due_at is null and v.extraction_error is null
       and (select count(*) from state_version_outputs o where o.state_version_id = v.id) <> 1`,
  ],
  [
    "workspaces",
    "has a current state version, but no revision from the state service",
    `select id as found from workspaces where current_state_version_id is not null
       and state_revision = 0`,
  ],
];

const ask = async ({ rows }: Rows, questions: readonly Question[]): Promise<string[]> => {
  const answers = questions.map(async ([database, what, sql]) =>
    (await rows<{ found: string }>(database, sql)).map(
      ({ found }) => `${database}: ${what}: ${found}`,
    ),
  );
  return (await Promise.all(answers)).flat();
};

/** Returns background work that has not ended. */
export const unfinished = (fixture: FaultFixture): Promise<string[]> => ask(fixture, underWay);

/** Returns rows that violate an invariant within a single service's database. */
export const brokenPromises = (fixture: Rows): Promise<string[]> => ask(fixture, forbidden);

interface Summary {
  id: string;
  current: string | null;
  resources: number;
  latest: string | null;
  organization: string;
  project: string;
}

/** Returns contradictions between the services about the same object. */
export async function differences(fixture: FaultFixture): Promise<string[]> {
  const { rows } = fixture;
  const [shown, kept, deleted, organizations, provisioned] = await Promise.all([
    rows<Summary>(
      "workspaces",
      `select id, current_state_version_id as current, resource_count as resources,
         latest_change_at::timestamptz(3)::text as latest, organization_id as organization,
         project_id as project from workspaces`,
    ),
    rows<Summary & { dropped: boolean }>(
      "state",
      `select workspace_id as id, current_version_id as current, resource_count as resources,
         latest_change_at::timestamptz(3)::text as latest, organization_id as organization,
         project_id as project, dropped_at is not null as dropped from workspace_states`,
    ),
    rows<{ id: string }>("workspaces", "select workspace_id as id from workspace_deletions"),
    rows<{ id: string }>("workspaces", "select id from organizations"),
    rows<{ id: string }>(
      "access",
      `select o.id from organizations o where exists (
         select from teams t join team_members m on m.team_id = t.id
         where t.organization_id = o.id and t.owners)`,
    ),
  ]);
  const truth = new Map(kept.map((row) => [row.id, row]));
  const isDeleted = new Set(deleted.map(({ id }) => id));
  const isProvisioned = new Set(provisioned.map(({ id }) => id));
  const found: string[] = [];
  for (const { id, ...says } of shown) {
    const { id: _, dropped, ...is } = truth.get(id) ?? { id, dropped: false, ...says };
    if (dropped) {
      found.push(`${id} is dropped in the state service, but exists in the workspaces service`);
    }
    // The workspace's lock was sealed before its first write, so the state service has not received the placement.
    if (is.organization === null)
      Object.assign(is, { organization: says.organization, project: says.project });
    if (JSON.stringify(says) !== JSON.stringify(is)) {
      found.push(
        `${id}: the workspaces service has ${JSON.stringify(says)}, the state service has ${JSON.stringify(is)}`,
      );
    }
  }
  for (const id of isDeleted) {
    if (truth.get(id)?.dropped !== true) {
      found.push(`${id} is deleted in the workspaces service, but not in the state service`);
    }
  }
  const alive = new Set(shown.map(({ id }) => id));
  for (const { id } of kept) {
    if (!alive.has(id) && !isDeleted.has(id)) {
      found.push(`${id} is known only to the state service`);
    }
  }
  for (const { id } of organizations) {
    if (!isProvisioned.has(id)) found.push(`${id} has no owners in the access service`);
  }
  return found;
}
