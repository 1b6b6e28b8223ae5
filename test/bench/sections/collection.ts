import { forEachConcurrently } from "@statehouse/runtime";
import { freshBucket, minioClient, waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { type Api, document } from "../../stack/http.ts";
import { newOrganization, organizationId } from "../../stack/organization.ts";
import { type Stack, startStack } from "../../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../../stack/state.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { callerOf } from "../caller.ts";
import { seed } from "../seed.ts";
import { printTable } from "../table.ts";

/** Number of state versions in each workspace. */
const EACH = 1000;
/** Number of state versions in each workspace that are due for deletion. */
const DUE_EACH = EACH / 10;
/** Number of state versions that one transaction deletes, in the collector and in the baseline. */
const BATCH = 200;
const OBJECTS = 3000;
/**
 * How long to wait for a scan of the collector or for the deletion of bytes, and the interval between two checks, in
 * ms.
 */
const PATIENCE = { timeout: 30 * 60_000, interval: 100 };

/**
 * (l) Measures how many state versions retention policies delete per second. For rows, the baseline is plain DELETE
 * statements; for bytes, it is direct removals from the store.
 */
export async function collection({ options }: Ground): Promise<Aim[]> {
  const workspaces = Math.max(1, Math.round(options.versions / EACH));
  await using stack = await startStack({
    blobs: "minio",
    settings: { LOG_LEVEL: "warn", COLLECTION_INTERVAL: "1", BLOB_DELETION_DELAY: "0" },
  });
  const owner = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(owner.api);
  await fill(stack, owner.api, organization, workspaces);
  const due = workspaces * DUE_EACH;

  const client = new Client({ connectionString: stack.databases.state });
  await client.connect();
  try {
    const raw = await deletePlainly(client);
    const policy = document("data-retention-policy-delete-olders", {
      "delete-older-than-n-days": 30,
    });
    const path = `/organizations/${organization}/relationships/data-retention-policy`;
    await expectStatus(200, owner.api.post(path, policy));
    const ours = await scanSeconds(client, due);
    const bytes = await removals(stack, client);
    printTable(
      `(l) deleted in a second, of ${(workspaces * EACH).toLocaleString("en")} versions, a tenth of which is due`,
      ["", "deleted", "plain /s", "ours /s", "of plain"],
      [
        ["rows of versions", due, due / raw, due / ours, raw / ours],
        [
          "bytes of 1 KiB",
          OBJECTS,
          OBJECTS / bytes.raw,
          OBJECTS / bytes.ours,
          bytes.raw / bytes.ours,
        ],
      ],
    );
    return [
      // Retention keeps the row of a state version whose bytes it deletes: it updates the row under locks and records
      // an event. A plain DELETE does neither.
      atLeast("(l) versions deleted by retention, of plain DELETEs", 0.1, raw / ours),
      atLeast("(l) bytes deleted, of plain removals", 0.5, bytes.raw / bytes.ours),
    ];
  } finally {
    await client.end();
  }
}

/**
 * Creates workspaces with 1,000 state versions each. The oldest tenth is due for deletion by the collector; the
 * baseline deletes the next tenth.
 */
async function fill(
  stack: Stack,
  api: Api,
  organization: string,
  workspaces: number,
): Promise<void> {
  const { id } = await newWorkspaceIn(api, organization, { name: "original" });
  const written = await expectStatus(201, writeState(api, id, stateFile()));
  const inside = await organizationId(stack, organization);
  await seed(stack.databases.workspaces, ({ copies }) =>
    copies("workspaces", id, workspaces, {
      id: "'ws-' || lpad(n::text, 16, '0')",
      name: "'seeded-' || n",
    }),
  );
  await seed(stack.databases.state, async ({ sql }) => {
    await sql(
      `insert into workspace_states (workspace_id, organization_id, project_id, placement_version,
         sealed_epoch, current_version_id, current_position, resource_count, revision)
       select 'ws-' || lpad(n::text, 16, '0'), $1, 'prj-1', 1, 0, 'sv-' || n || 'x${EACH}', ${EACH}, 0, 0
       from generate_series(1, $2::int) n`,
      [inside, workspaces],
    );
    await sql(
      `insert into state_versions
       select (jsonb_populate_record(original, jsonb_build_object('id', 'sv-' || w || 'x' || v,
         'workspace_id', 'ws-' || lpad(w::text, 16, '0'), 'position', v, 'lock_epoch', v,
         'blob_key', 'bench/' || w || '/' || v,
         'created_at', now() - case when v <= ${DUE_EACH} then interval '40 days' else interval '1 day' end))).*
       from state_versions original, generate_series(1, $2::int) w, generate_series(1, ${EACH}) v
       where original.id = $1`,
      [written.body.data.id, workspaces],
    );
    await sql(
      `insert into blobs select 'bench/' || w || '/' || v, 'ws-' || lpad(w::text, 16, '0'), 1, 's', 1, now()
       from generate_series(1, $1::int) w, generate_series(1, ${EACH}) v`,
      [workspaces],
    );
  });
}

/**
 * Deletes as many rows as the collector, with plain DELETEs in batches of the same size; returns the duration in
 * seconds.
 */
async function deletePlainly(client: Client): Promise<number> {
  const { rows } = await client.query<{ id: string; blob_key: string }>(
    `select id, blob_key from state_versions where position > ${DUE_EACH} and position <= ${2 * DUE_EACH}
     order by workspace_id, position`,
  );
  const startedAt = performance.now();
  for (let from = 0; from < rows.length; from += BATCH) {
    const batch = rows.slice(from, from + BATCH);
    const ids = batch.map(({ id }) => id);
    await client.query("begin");
    await client.query("delete from state_version_outputs where state_version_id = any($1)", [ids]);
    await client.query("delete from state_versions where id = any($1)", [ids]);
    const keys = batch.map(({ blob_key: key }) => key);
    await client.query("delete from blobs where key = any($1)", [keys]);
    await client.query("commit");
  }
  return (performance.now() - startedAt) / 1000;
}

/** Waits until a scan of the collector has deleted all due state versions; returns its duration in seconds. */
const scanSeconds = (client: Client, due: number): Promise<number> =>
  waitFor(
    async () => {
      const { rows } = await client.query<{ seconds: number }>(
        `select extract(epoch from finished_at - started_at)::float as seconds from scans
       where name = 'retention' and found = $1 and finished_at > started_at`,
        [due],
      );
      return rows[0]?.seconds;
    },
    { ...PATIENCE, what: "the collector's scan" },
  );

/**
 * Deletes `OBJECTS` objects from MinIO directly, and as many through the table `blob_deletions`. Returns both durations
 * in seconds.
 */
async function removals(stack: Stack, client: Client): Promise<{ raw: number; ours: number }> {
  await waitFor(async () => {
    const { rows } = await client.query("select from blob_deletions limit 1");
    return rows.length === 0;
  }, PATIENCE);
  await using bucket = await freshBucket();
  const minio = minioClient(bucket);
  const own = stack.environments.state.S3_BUCKET ?? "";
  const keys = Array.from({ length: OBJECTS }, (_, index) => `bench-removal/${index}`);
  const bytes = Buffer.alloc(1024);
  for (const name of [bucket.bucket, own]) {
    await forEachConcurrently(
      16,
      keys,
      async (key) => void (await minio.putObject(name, key, bytes)),
    );
  }
  const startedAt = performance.now();
  for (let from = 0; from < keys.length; from += 1000) {
    await minio.removeObjects(bucket.bucket, keys.slice(from, from + 1000));
  }
  const raw = (performance.now() - startedAt) / 1000;
  await client.query(
    "insert into blob_deletions (key, due_at) select key, now() from unnest($1::text[]) key",
    [keys],
  );
  // Inserting rows directly does not notify the worker that deletes bytes. The worker finds the rows at its next poll,
  // and claims a batch of them by moving their `due_at` into the future; the measurement starts then.
  await waitFor(
    async () => {
      const { rows } = await client.query(
        "select from blob_deletions where due_at > now() limit 1",
      );
      return rows.length > 0;
    },
    { ...PATIENCE, interval: 5 },
  );
  const since = performance.now();
  await waitFor(
    async () => {
      const { rows } = await client.query("select from blob_deletions limit 1");
      return rows.length === 0;
    },
    { ...PATIENCE, interval: 5 },
  );
  return { raw, ours: (performance.now() - since) / 1000 };
}
