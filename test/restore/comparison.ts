import { Client } from "pg";

export type Databases = Record<"access" | "workspaces" | "state", string>;

/** Ids of workspaces, grouped by the kind of difference that the comparison between the services reports. */
export type Reported = Record<string, string[]>;

export async function rowsOf<Row extends object>(
  url: string,
  sql: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...params])).rows;
  } finally {
    await client.end();
  }
}

interface Own {
  id: string;
  deleted: boolean;
  state_revision: string;
  placement_version: string;
}

interface Theirs {
  id: string;
  dropped: boolean;
  revision: string;
  placement_version: string;
}

/** Computes from the rows of restored databases which differences must be reported and which are repaired. */
export async function expectedDifferences(
  databases: Databases,
): Promise<{ reported: Reported; repaired: Set<string> }> {
  const own = new Map(
    (
      await rowsOf<Own>(
        databases.workspaces,
        `select id, false as deleted, state_revision, placement_version from workspaces
         union all select workspace_id, true, 0, 0 from workspace_deletions`,
      )
    ).map((row) => [row.id, row]),
  );
  const theirs = new Map(
    (
      await rowsOf<Theirs>(
        databases.state,
        `select workspace_id as id, dropped_at is not null as dropped, revision, placement_version
         from workspace_states`,
      )
    ).map((row) => [row.id, row]),
  );
  const reported: Reported = {};
  const repaired = new Set<string>();
  const report = (difference: string, id: string) => {
    reported[difference] = [...(reported[difference] ?? []), id].toSorted();
  };
  for (const [id, state] of theirs) {
    const known = own.get(id);
    if (!known) {
      if (!state.dropped) report("unknownHere", id);
    } else if (known.deleted) {
      // The comparison completes the deletion: the state service drops the workspace, or purges it if it is already
      // dropped.
      repaired.add(id);
    } else if (state.dropped) report("droppedAtState", id);
    else {
      const [revision, ours] = [BigInt(state.revision), BigInt(known.state_revision)];
      if (revision > ours) repaired.add(id);
      if (revision < ours) report("stateBehind", id);
      const [placement, placed] = [
        BigInt(state.placement_version),
        BigInt(known.placement_version),
      ];
      if (placement !== placed) repaired.add(id);
    }
  }
  for (const [id, { deleted, state_revision }] of own) {
    if (!deleted && BigInt(state_revision) > 0n && !theirs.has(id)) report("unknownToState", id);
  }
  return { reported, repaired };
}

/** Returns the differences between the services that the log of the workspaces service reports. */
export function reportedIn(log: string): Reported {
  const found: Record<string, Set<string>> = {};
  for (const line of log.split("\n")) {
    if (!line.includes('"difference"') || !line.includes('"workspaceIds"')) continue;
    const { difference, workspaceIds } = JSON.parse(line);
    for (const id of workspaceIds) {
      found[difference] = (found[difference] ?? new Set<string>()).add(id);
    }
  }
  return Object.fromEntries(
    Object.entries(found).map(([difference, ids]) => [difference, [...ids].toSorted()]),
  );
}

/**
 * Returns, by workspace id, a text with everything that the services store about the workspace, except values that
 * background work may still change.
 */
export async function contentsOf({ workspaces, state }: Databases): Promise<Map<string, string>> {
  const versions = await rowsOf<{ id: string; content: string }>(
    state,
    `select workspace_id as id, json_agg(json_build_array(id, status, serial, md5, blob_key, size,
       sha256, json_blob_key) order by position)::text as content
     from state_versions group by 1`,
  );
  const rows = await rowsOf<{ id: string; content: string }>(
    workspaces,
    "select id, json_build_array(name, organization_id, project_id)::text as content from workspaces",
  );
  const contents = new Map<string, string>();
  for (const { id, content } of [...versions, ...rows]) {
    contents.set(id, `${contents.get(id) ?? ""}${content}`);
  }
  return contents;
}
