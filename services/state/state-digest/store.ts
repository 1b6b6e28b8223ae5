import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type { StateVersionId } from "../ids-domain.ts";
import type { StateVersion } from "../state-version/domain.ts";
import type {
  Change,
  Comparable,
  Comparison,
  Incomparable,
  StateChanges,
  StateDifference,
  StateDigests,
} from "./domain.ts";

/** Deletes the digests of versions whose contents are deleted. */
export async function deleteDigests(
  em: EntityManager,
  versionIds: readonly StateVersionId[],
): Promise<void> {
  // index: state_version_digests_pkey
  await queryIn(em, "delete from state_version_digests where state_version_id = any($1)", [
    versionIds,
  ]);
}

/** Copies the digests of one version to another with the same content. */
export async function copyDigests(
  em: EntityManager,
  from: StateVersionId,
  to: StateVersionId,
): Promise<void> {
  await queryIn(
    em,
    // index: state_version_digests_pkey
    `insert into state_version_digests (state_version_id, key_id, resources, outputs)
     select $2, key_id, resources, outputs from state_version_digests where state_version_id = $1`,
    [from, to],
  );
}

/**
 * SQL: the entries that differ between the JSON objects of versions $1 and $2. The object of a version without digests
 * is empty.
 */
const differing = (column: string) => `
  select coalesce(new.key, old.key) as name, new.value as new, old.value as old,
    case when old.key is null then 'added' when new.key is null then 'removed' else 'changed' end
      as change
  from jsonb_each((select ${column} from state_version_digests where state_version_id = $1)) new
  full join jsonb_each((select ${column} from state_version_digests where state_version_id = $2)) old
    on old.key = new.key
  where new.value is distinct from old.value`;

/** SQL: the number of entries by kind of change. */
const countsOf = (entries: string) =>
  `select json_build_object('added', count(*) filter (where change = 'added'),
     'changed', count(*) filter (where change = 'changed'),
     'removed', count(*) filter (where change = 'removed')) from (${entries}) one`;

/** SQL: the outputs that differ, ordered by name. */
const differingOutputs = `
  select coalesce(json_agg(json_build_object('name', name, 'change', change,
    'sensitive', coalesce(new, old) -> 1) order by name), '[]')
  from (${differing("outputs")}) one`;

/**
 * Selects the differences of version $1 from version $2: the numbers of added, changed and removed instances, and the
 * names of the outputs that differ. $2 is an empty text if there is no previous version.
 */
export const differenceOfVersions = `
  -- index: state_version_digests_pkey, for both
  select json_build_object(
    'counts', (${countsOf(differing("resources"))}),
    'outputs', (${differingOutputs})
  ) as difference`;

/** Largest number of addresses that one comparison lists. */
const MAX_ADDRESSES = 20_000;

/**
 * Selects the instances and outputs that differ in version $1 from version $2, and the properties that decide whether
 * the two versions can be compared. One statement reads all of this consistently, so the properties belong to the
 * digests that were compared.
 */
export const changesOfVersions = `
  -- index: state_versions_pkey, state_version_digests_pkey, for both
  with instances as (${differing("resources")})
  select (
    select coalesce(json_agg(json_build_object('id', v.id, 'processed', v.resources_processed,
      'keyId', d.key_id, 'deleted', v.status like 'backing_data_%',
      'unreadable', v.extraction_error is not null) order by v.id <> $1), '[]')
    from state_versions v left join state_version_digests d on d.state_version_id = v.id
    where v.id in ($1, $2)
  ) as versions, json_build_object(
    'resources', (
      select coalesce(json_agg(json_build_object('address', name, 'change', change)), '[]')
      from (select name, change from instances order by name limit ${MAX_ADDRESSES}) listed),
    'counts', (${countsOf("select change from instances")}),
    'outputs', (${differingOutputs})
  ) as changes`;

/** Reads of digests, outside any transaction. */
const reads = (database: Database) => ({
  /**
   * Returns the differences of a version from another one, and whether each of the two can be compared. If one of them
   * cannot, the differences have no meaning.
   */
  async changes(
    id: StateVersionId,
    sinceId: StateVersionId,
  ): Promise<{ versions: (Comparable & { id: string })[]; changes: StateChanges }> {
    const [row] = await database.query<{
      versions: (Comparable & { id: string })[];
      changes: StateChanges;
    }>(changesOfVersions, [id, sinceId]);
    if (!row) throw new Error("the comparison returned no row");
    return row;
  },
});

interface PreviousRow {
  id: StateVersionId;
  processed: boolean;
  unreadable: boolean;
  keyId: string | null;
}

const rows = (em: EntityManager) => ({
  async save(id: StateVersionId, { keyId, resources, outputs }: StateDigests): Promise<void> {
    await queryIn(
      em,
      `insert into state_version_digests (state_version_id, key_id, resources, outputs)
         values ($1, $2, $3, $4)`,
      [id, keyId, resources, outputs],
    );
  },

  /**
   * Compares a version with the previous version that has a state and is not a snapshot. The transaction must have
   * locked the workspace, and stored the digests of the version if its state is readable.
   */
  async compareWithPrevious(version: StateVersion): Promise<Comparison> {
    const [previous] = await queryIn<PreviousRow>(
      em,
      // index: state_versions_position, state_version_digests_pkey
      `select v.id, v.resources_processed as processed, v.extraction_error is not null as unreadable,
           d.key_id as "keyId"
         from state_versions v left join state_version_digests d on d.state_version_id = v.id
         where v.workspace_id = $1 and v.position < $2 and not v.intermediate
           and v.status not in ('pending', 'discarded')
         order by v.position desc limit 1`,
      [version.workspaceId, version.position],
    );
    const previousVersionId = previous?.id ?? null;
    const [own] = await queryIn<{ keyId: string }>(
      em,
      // index: state_version_digests_pkey
      `select key_id as "keyId" from state_version_digests where state_version_id = $1`,
      [version.id],
    );
    const incomparable = reasonAgainst(own?.keyId, previous);
    if (incomparable) return { previousVersionId, difference: null, incomparable };
    const params = [version.id, previousVersionId ?? ""];
    const [row] = await queryIn<{ difference: StateDifference }>(em, differenceOfVersions, params);
    if (!row) throw new Error("the comparison returned no row");
    return { previousVersionId, difference: row.difference, incomparable: null };
  },
});

/** Returns why a version cannot be compared with the previous one; undefined if it can, or if it is the first one. */
function reasonAgainst(
  ownKeyId: string | undefined,
  previous: PreviousRow | undefined,
): Incomparable | undefined {
  if (ownKeyId === undefined) return "unreadable";
  if (!previous) return undefined;
  if (!previous.processed) return "previous-unprocessed";
  if (previous.unreadable) return "previous-unreadable";
  if (previous.keyId === null) return "previous-not-digested";
  return previous.keyId === ownKeyId ? undefined : "key-changed";
}

/**
 * Maximum length of the lists of outputs in an event, in characters. Output names come from the state, which limits
 * neither their length nor their number.
 */
const MAX_NAMES_LENGTH = 64 * 1024;
/** Length of one output's entry in these lists without the output's name, in characters. */
const ENTRY_LENGTH = 30;

/** Returns the fields of an event that describe a comparison. */
export function differenceFields({ previousVersionId, difference, incomparable }: Comparison) {
  let length = 0;
  let outputsTruncated = false;
  const { outputs = [], counts } = difference ?? {};
  const bounded = (kind: Change) =>
    outputs
      .filter(({ name, change }) => {
        if (change !== kind) return false;
        length += name.length + ENTRY_LENGTH;
        if (length > MAX_NAMES_LENGTH) outputsTruncated = true;
        return length <= MAX_NAMES_LENGTH;
      })
      .map(({ name, sensitive }) => ({ name, sensitive }));
  const listed = {
    outputsAdded: bounded("added"),
    outputsChanged: bounded("changed"),
    outputsRemoved: bounded("removed"),
  };
  return {
    comparedStateVersionId: previousVersionId ?? "",
    incomparable: incomparable ?? "",
    ...listed,
    outputsTruncated,
    resourcesAdded: counts?.added ?? 0,
    resourcesChanged: counts?.changed ?? 0,
    resourcesRemoved: counts?.removed ?? 0,
  };
}

export const stateVersionDigests = { reads, rows };
