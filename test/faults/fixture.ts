import { migrations as accessMigrations } from "@statehouse/access/migrations";
import { migrate } from "@statehouse/postgres";
import { serviceNames } from "@statehouse/standalone/environments";
import { migrations as stateMigrations } from "@statehouse/state/migrations";
import { freshBucket, type ownMinio, type ownPostgres, waitFor } from "@statehouse/testing";
import { migrations as workspacesMigrations } from "@statehouse/workspaces/migrations";
import { Pool } from "pg";
import { type Answer, type Api, api } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import type { Person } from "../stack/people.ts";
import { reservePort } from "../stack/port.ts";
import { serviceProcess } from "../stack/processes.ts";
import type { ServiceProcess } from "../stack/service-process.ts";
import {
  type DatabaseName,
  type ProcessStack,
  type Stack,
  type StackOptions,
  startProcesses,
} from "../stack/stack.ts";
import { type StoreView, storeView } from "../stack/store.ts";
import { type Proxies, type StartedProxies, startProxies } from "./proxies.ts";

/** Options of a fault fixture. When the fixture is disposed, it stops the dependencies in these options. */
export interface FaultFixtureOptions {
  /** The store of state bytes; default: a folder. */
  store?: "directory" | "minio" | Awaited<ReturnType<typeof ownMinio>>;
  postgres?: Awaited<ReturnType<typeof ownPostgres>>;
  settings?: Record<string, string>;
}

/** The four services as processes with proxies between them, an owner, and a record of confirmed data. */
export interface FaultFixture extends AsyncDisposable {
  readonly stack: ProcessStack;
  readonly proxies: Proxies;
  readonly store: StoreView;
  readonly owner: Person & { api: Api };
  readonly organization: string;
  /** The bytes of every state version that was confirmed as finalized, keyed by its id. */
  readonly acknowledged: Map<string, { workspaceId: string; bytes: Buffer }>;
  /** Workspaces whose locks were already checked after an earlier test. */
  readonly checked: Set<string>;
  /** Queries one of the databases directly, not through a proxy. */
  rows: Stack["rows"];
}

/** Starts the dependencies, the proxies and the services, and creates an organization. */
export async function startFaultFixture({
  store,
  postgres,
  settings,
}: FaultFixtureOptions): Promise<FaultFixture> {
  await using starting = new AsyncDisposableStack();
  let started: StartedProxies | undefined;
  let view: StoreView | undefined;
  if (typeof store === "object") starting.use(store);
  if (postgres) starting.use(postgres);
  const own = postgres && (await ownDatabases(postgres));
  const bucket =
    typeof store === "object" ? starting.use(await freshBucket(addressOf(store))) : undefined;
  const options: StackOptions = {
    blobs: store === "minio" ? "minio" : "directory",
    // Sets the deletion delay to 0, so that tests can observe that bytes are deleted from the store.
    settings: { BLOB_DELETION_DELAY: "0", ...(bucket ? s3Settings(bucket) : {}), ...settings },
    ...(own ? { databaseUrl: (service) => own[service] } : {}),
    rewire: async (environments) => {
      view = storeView(environments.state);
      started = starting.use(await startProxies(environments));
    },
  };
  const stack = starting.use(await startProcesses(options));
  if (!started || !view) throw new Error("the stack was started without proxies");
  const { proxies } = started;
  const person = await stack.people.newUser();
  const owner = { ...person, api: api(stack.url, person.token) };
  // The request is repeated, because services that have just started may still be connecting.
  const organization = await waitFor(() => newOrganization(owner.api));
  const rows = own ? starting.use(rowsOf(own)).rows : stack.rows;
  const owned = starting.move();
  return {
    stack,
    proxies,
    store: view,
    owner,
    organization,
    acknowledged: new Map(),
    checked: new Set(),
    rows,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Opens connections to the databases. When PostgreSQL stops they are closed, and the next query opens new ones. */
function rowsOf(databases: Record<DatabaseName, string>): AsyncDisposable & Pick<Stack, "rows"> {
  const pools = new Map(
    Object.entries(databases).map(([name, connectionString]) => {
      const pool = new Pool({ connectionString });
      // An idle connection fails when PostgreSQL stops; without a listener the error would crash the process.
      pool.on("error", () => {});
      return [name, pool];
    }),
  );
  return {
    rows: async (database, sql, params = []) =>
      (await pools.get(database)?.query(sql, [...params]))?.rows ?? [],
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}

const addressOf = ({
  endpoint,
  region,
  accessKey,
  secretKey,
}: Awaited<ReturnType<typeof ownMinio>>) => ({
  endpoint,
  region,
  accessKey,
  secretKey,
});

/** Returns the settings with which the state service uses this bucket. */
export const s3Settings = (bucket: Awaited<ReturnType<typeof freshBucket>>) => ({
  BLOB_STORE: "s3",
  S3_ENDPOINT: bucket.endpoint,
  S3_BUCKET: bucket.bucket,
  S3_REGION: bucket.region,
  S3_ACCESS_KEY: bucket.accessKey,
  S3_SECRET_KEY: bucket.secretKey,
});

/** Creates the three databases with their schemas. */
export async function ownDatabases(
  postgres: Pick<Awaited<ReturnType<typeof ownPostgres>>, "url" | "createDatabases">,
): Promise<Record<DatabaseName, string>> {
  const schemas = {
    access: accessMigrations,
    workspaces: workspacesMigrations,
    state: stateMigrations,
  } as const;
  const names = Object.keys(schemas) as DatabaseName[];
  await postgres.createDatabases(names);
  for (const contextName of names) {
    await migrate({
      url: postgres.url(contextName),
      contextName,
      migrations: schemas[contextName],
    });
  }
  return {
    access: postgres.url("access"),
    workspaces: postgres.url("workspaces"),
    state: postgres.url("state"),
  };
}

/** Removes all faults, starts killed services, and waits until requests that need all services succeed. */
export async function healAll({
  stack,
  proxies,
  owner,
  organization,
}: FaultFixture): Promise<void> {
  for (const proxy of Object.values(proxies)) {
    proxy.release();
    proxy.heal();
  }
  const dead = serviceNames.map((name) => stack.processes[name]).filter(({ running }) => !running);
  await Promise.all(dead.map((process) => process.start()));
  await eventually(200, () => owner.api.get(`/organizations/${organization}/workspaces`));
  // The gateway sends the request for an unknown id to the state service, which calls the workspaces service.
  await eventually(404, () =>
    owner.api.get("/workspaces/ws-0000000000000000/current-state-version"),
  );
}

/**
 * Repeats the request while it fails or returns a 5xx. Then expects the status `status`, or one of a list of statuses.
 */
export async function eventually(
  status: number | readonly number[],
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await waitFor(
    async () => {
      const response = await ask();
      if (response.status >= 500)
        throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
      return response;
    },
    { interval: 100, what: `an answer with status ${status}` },
  );
  if ([status].flat().includes(answer.status)) return answer;
  throw new Error(`Expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** Ends all leases of the state service, as if their time had passed, and makes all deletions of blobs due. */
export async function endLeases({ rows }: FaultFixture): Promise<void> {
  await rows(
    "state",
    "update state_versions set extraction_due_at = now() where extraction_due_at > now()",
  );
  await rows("state", "update blob_deletions set due_at = now() where due_at > now()");
  await rows(
    "state",
    "update scans set due_at = now() where due_at > now() and holder is not null",
  );
}

/** Returns the process of another replica of the state service without starting it, optionally with other settings. */
export const stateReplica = async (
  { stack }: Pick<FaultFixture, "stack">,
  settings: Record<string, string> = {},
): Promise<ServiceProcess> =>
  serviceProcess("state", {
    ...stack.environments.state,
    ...settings,
    GRPC_PORT: String(await reservePort()),
    OPS_PORT: String(await reservePort()),
    OBJECT_PORT: String(await reservePort()),
  });

/**
 * Runs another replica of the state service, which sweeps every ownerless key older than a second, until `done` returns
 * true.
 */
export async function sweep(fixture: FaultFixture, done: () => Promise<boolean>): Promise<void> {
  await using replica = await stateReplica(fixture, { SWEEP_GRACE: "1" });
  await replica.start();
  await waitFor(done, { timeout: 30_000, interval: 100, what: "the sweep" });
  await replica.terminate();
}
