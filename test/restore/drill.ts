import { execFile } from "node:child_process";
import { createLogger, readConfig } from "@statehouse/runtime";
import type { Environment, ServiceName } from "@statehouse/standalone/environments";
import { sweepOnce } from "@statehouse/state/blob/sweeper-worker";
import { deleteBlobsOnce } from "@statehouse/state/blob-deletion/worker";
import { openBlobStore } from "@statehouse/state/object/open-store";
import { service as stateService } from "@statehouse/state/service";
import { childEnvironment, sharedDependencies, waitFor } from "@statehouse/testing";
import { expect } from "vitest";
import { ownDatabases } from "../faults/fixture.ts";
import { blobSettings } from "../stack/blobs.ts";
import { api, document, download } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import type { Person } from "../stack/people.ts";
import { seededRandom } from "../stack/seeded-random.ts";
import { startProcesses, startStack } from "../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { storeView } from "../stack/store.ts";
import { type ArchivedPostgres, startArchivedPostgres } from "./archived-postgres.ts";
import {
  contentsOf,
  type Databases,
  expectedDifferences,
  reportedIn,
  rowsOf,
} from "./comparison.ts";
import { type JournalWorkspace, startHistory } from "./history.ts";

export interface Drill {
  seed: number;
  /** How long clients write before and after the base backup, in ms. */
  historyMs: number;
  print(line: string): void;
}

/** The keys that encrypt sealed columns. A restored installation must have the same keys. */
type Keys = Record<"workspaces" | "state", Pick<Environment, string>>;

interface Backups {
  postgres: ArchivedPostgres;
  journal: readonly JournalWorkspace[];
  owner: Person;
  blobs: Record<string, string>;
  keys: Keys;
  /**
   * The range of moments to which the databases can be restored: from the end of the base backup to the end of the
   * history, in epoch ms.
   */
  moments: { first: number; last: number };
}

/** Largest difference between a commit time of the database and the client's clock, in ms. */
const MARGIN_MS = 150;
const DELAY_S = 3600;

/**
 * Writes a random history and restores the databases to random moments: first all databases to the same moment, then
 * each database to a different moment. Checks what docs/backup.md promises and throws an error for the first broken
 * promise.
 */
export async function restoreDrill({ seed, historyMs, print }: Drill): Promise<void> {
  const random = seededRandom(seed);
  await using stack = new AsyncDisposableStack();
  const blobs = stack.use(await blobSettings());
  const postgres = stack.use(await startArchivedPostgres());
  const backups = await writeHistory({ postgres, blobs: blobs.settings, historyMs, random });
  const { journal, moments } = backups;
  const versions = journal.reduce((sum, workspace) => sum + workspace.versions.length, 0);
  print(`seed ${seed}: ${journal.length} workspaces, ${versions} state versions`);
  const moment = () => moments.first + Math.floor(random() * (moments.last - moments.first));
  const one = moment();
  await restoreTo(backups, { access: one, workspaces: one, state: one }, print);
  await restoreTo(backups, { access: moment(), workspaces: moment(), state: moment() }, print);
}

async function writeHistory({
  postgres,
  blobs,
  historyMs,
  random,
}: {
  postgres: ArchivedPostgres;
  blobs: Record<string, string>;
  historyMs: number;
  random: () => number;
}): Promise<Backups> {
  const databases = await ownDatabases(postgres.postgres);
  const keys: Keys = { workspaces: {}, state: {} };
  await using stack = await startStack({
    databaseUrl: (service) => databases[service],
    settings: { ...blobs, BLOB_DELETION_DELAY: String(DELAY_S), COMPARISON_INTERVAL: "1" },
    rewire: async (environments) => {
      keys.workspaces = keysOf(environments, "workspaces");
      keys.state = keysOf(environments, "state");
    },
  });
  const owner = await stack.people.newUser();
  const client = api(stack.url, owner.token);
  const organization = await waitFor(() => newOrganization(client));
  const projects: string[] = [];
  for (const name of ["here", "there"]) {
    const path = `/organizations/${organization}/projects`;
    const created = client.post(path, document("projects", { name }));
    projects.push((await expectStatus(201, created)).body.data.id);
  }
  await using history = startHistory({ api: client, organization, projects }, random);
  await during(historyMs);
  await postgres.backUp();
  const first = Date.now() + MARGIN_MS;
  await during(historyMs);
  await history.end();
  const last = Date.now() - MARGIN_MS;
  await postgres.end();
  return { postgres, journal: history.journal, owner, blobs, keys, moments: { first, last } };
}

/** Waits for a fixed time, not for a condition. */
const during = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const keysOf = (environments: Record<ServiceName, Environment>, service: ServiceName) =>
  Object.fromEntries(
    Object.entries(environments[service]).filter(
      ([name]) => /_KEYS$/.test(name) && !/ASSERTION/.test(name),
    ),
  );

/** Restores each database to its time in `moments` and checks everything that docs/backup.md promises. */
async function restoreTo(
  backups: Backups,
  moments: Record<keyof Databases, number>,
  print: Drill["print"],
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { postgres, keys, blobs } = backups;
  const clusters = new Map<number, Databases>();
  for (const moment of new Set(Object.values(moments))) {
    const cluster = stack.use(await postgres.recover(new Date(moment)));
    const [access, workspaces, state] = ["access", "workspaces", "state"].map(cluster.url);
    if (!access || !workspaces || !state) throw new Error("a database has no address");
    clusters.set(moment, { access, workspaces, state });
  }
  const at = (name: keyof Databases) => clusters.get(moments[name])?.[name] ?? "";
  const databases = { access: at("access"), workspaces: at("workspaces"), state: at("state") };
  const isOne = new Set(Object.values(moments)).size === 1;
  print(`restored to ${isOne ? "one moment" : "three moments"}`);

  const settings = { ...blobs, BLOB_DELETION_DELAY: String(DELAY_S), SWEEP_GRACE: "1" };
  await expectNoProblems({ ...settings, DATABASE_URL: databases.state }, print);
  const expected = await expectedDifferences(databases);
  print(
    `expected: ${JSON.stringify(countsOf(expected.reported))}, repaired ${expected.repaired.size}`,
  );
  if (isOne) expect(expected.reported).toEqual({});
  expectExplained(backups, moments, expected.reported);
  const contents = await contentsOf(databases);
  const awaiting = await awaitingExtraction(databases);
  await postponeComparison(databases, "1 hour");
  const store = storeView(blobs);
  const keysBefore = await store.keys();

  await using restored = await startProcesses({
    databaseUrl: (service) => databases[service],
    settings: { ...settings, COMPARISON_INTERVAL: "1", LOG_LEVEL: "warn" },
    rewire: async (environments) => {
      for (const service of ["workspaces", "state"] as const) {
        Object.assign(environments[service], keys[service]);
      }
    },
  });
  // A state that awaited extraction gets a newer revision than the workspaces service knows, so the comparison starts
  // after all extractions.
  await waitFor(async () => (await awaitingExtraction(databases)).length === 0, {
    what: "the extractions",
  }).catch((error: unknown) => {
    throw new Error(`the state service: ${restored.processes.state.output().slice(-4000)}`, {
      cause: error,
    });
  });
  const { reported } = await expectedDifferences(databases);
  const { stateBehind = [], ...others } = expected.reported;
  const behind = stateBehind.filter((id) => !awaiting.includes(id));
  expect(reported).toEqual({ ...others, ...(behind.length > 0 && { stateBehind: behind }) });
  await postponeComparison(databases, "0");
  await comparedTwice(databases);
  expect(reportedIn(restored.processes.workspaces.output())).toEqual(reported);
  await sweepAndDelete(restored.environments.state);
  expect(await store.keys()).toEqual(keysBefore);
  await expectUntouched(contents, await contentsOf(databases), expected);
  await expectNoProblems({ ...settings, DATABASE_URL: databases.state }, print);
  const kept = await expectConfirmedStates(backups, moments, restored.url);
  print(`${kept} confirmed states are there byte for byte`);
  await expectWritable(backups.owner, restored.url);
}

const countsOf = (reported: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(reported).map(([difference, ids]) => [difference, ids.length]));

/** Checks that each reported workspace was changed between the moments to which the two services were restored. */
function expectExplained(
  { journal }: Backups,
  { workspaces, state }: Record<keyof Databases, number>,
  reported: Record<string, string[]>,
): void {
  const [from, until] = [Math.min(workspaces, state), Math.max(workspaces, state)];
  const isBetween = (span?: { from: number; until: number }) =>
    span !== undefined && span.until > from - MARGIN_MS && span.from < until + MARGIN_MS;
  const changed = new Set(
    journal
      .filter(({ made, moved, versions, deleted }) =>
        [made, deleted, ...moved, ...versions.flatMap((one) => [one.made, one.deleted])].some(
          isBetween,
        ),
      )
      .map(({ id }) => id),
  );
  for (const id of Object.values(reported).flat()) expect(changed).toContain(id);
  if (workspaces >= state) return;
  // Workspaces that only the state database contains. They were created and first written after the moment to which the
  // workspaces database was restored, and before the moment to which the state database was restored. They were not
  // deleted before the latter moment.
  const lost = journal.filter(
    ({ made, versions: [first], deleted }) =>
      made.from > workspaces + MARGIN_MS &&
      (first?.made.until ?? until) < state - MARGIN_MS &&
      (deleted?.from ?? Number.POSITIVE_INFINITY) > state + MARGIN_MS,
  );
  for (const { id } of lost) expect(reported.unknownHere).toContain(id);
}

/** Checks that `fsck` finds no problems except bytes that were deleted permanently. */
async function expectNoProblems(environment: Record<string, string>, print: Drill["print"]) {
  const program = [sharedDependencies().program, "fsck"];
  const { code, lines } = await new Promise<{ code: unknown; lines: string[] }>((resolve) => {
    execFile(process.execPath, program, { env: childEnvironment(environment) }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, lines: `${out}${error ? err : ""}`.trimEnd().split("\n") }),
    );
  });
  const summary = lines.filter((line) => !/^deletedPermanently /.test(line));
  print(`fsck: ${summary.join("; ")}`);
  expect({ code, lines }).toMatchObject({ code: 0 });
}

/** Returns the workspaces whose current state awaits extraction, except dropped ones, which are never extracted. */
const awaitingExtraction = async ({ state }: Databases): Promise<string[]> =>
  (
    await rowsOf<{ id: string }>(
      state,
      `select s.workspace_id as id from workspace_states s
       join state_versions v on v.id = s.current_version_id where v.extraction_due_at is not null and s.dropped_at is null`,
    )
  ).map(({ id }) => id);

/** Schedules the next comparison of the services; `time` is the interval from now until it is due. */
const postponeComparison = ({ workspaces }: Databases, time: string) =>
  rowsOf(workspaces, "update state_comparison set due_at = now() + $1::interval", [time]);

/** Waits until the services have compared all workspaces twice. */
async function comparedTwice({ workspaces }: Databases): Promise<void> {
  const seen = new Set<string>();
  await waitFor(
    async () => {
      const [row] = await rowsOf<{ due: string }>(
        workspaces,
        `select due_at::text as due from state_comparison
         where through = 'theirs' and after = '' and due_at > now()`,
      );
      if (row) seen.add(row.due);
      return seen.size > 1;
    },
    { timeout: 60_000, interval: 50, what: "two comparisons" },
  );
}

/** Runs the sweeper once, and the deletion of bytes until no bytes are due, as the workers of the state service do. */
async function sweepAndDelete(environment: Environment): Promise<void> {
  const config = readConfig(stateService.config, environment);
  const logger = createLogger({ service: "state", level: "silent" });
  await using stack = new AsyncDisposableStack();
  const { app } = stack.use(await stateService.openApp(config, { logger }));
  const store = stack.use(await openBlobStore(config, logger, { beside: true }));
  expect(await sweepOnce(app, store)).toBe(0);
  while (await deleteBlobsOnce(app, store));
}

async function expectUntouched(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  { repaired }: { repaired: ReadonlySet<string> },
): Promise<void> {
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    if (!repaired.has(id)) expect([id, after.get(id)]).toEqual([id, before.get(id)]);
  }
}

/**
 * Checks that every state that was confirmed before the earliest of `moments`, and was not deleted, can be read.
 * Returns the number of these states.
 */
async function expectConfirmedStates(
  { journal, owner }: Backups,
  moments: Record<keyof Databases, number>,
  url: string,
): Promise<number> {
  const [from, until] = [
    Math.min(...Object.values(moments)) - MARGIN_MS,
    Math.max(...Object.values(moments)) + MARGIN_MS,
  ];
  const client = api(url, owner.token);
  let kept = 0;
  for (const workspace of journal) {
    if ((workspace.deleted?.from ?? until) < until) continue;
    for (const { id, bytes, made, deleted } of workspace.versions) {
      if (made.until > from || deleted) continue;
      const { body } = await expectStatus(200, client.get(`/state-versions/${id}`));
      const found = await download(body.data.attributes["hosted-state-download-url"], owner.token);
      expect([id, found.status]).toEqual([id, 200]);
      expect(found.bytes.equals(bytes), `the bytes of ${id}`).toBe(true);
      kept++;
    }
  }
  return kept;
}

async function expectWritable(owner: Person, url: string): Promise<void> {
  const client = api(url, owner.token);
  const organization = await newOrganization(client);
  const path = `/organizations/${organization}/workspaces`;
  const created = client.post(path, document("workspaces", { name: "after-the-restore" }));
  const { id } = (await expectStatus(201, created)).body.data;
  await expectStatus(201, writeState(client, id, stateFile()));
}
