import { migrations as accessMigrations } from "@statehouse/access/migrations";
import { freshDatabase } from "@statehouse/postgres/testing";
import { type Channel, createIdentity } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import { natsUser, newSecrets } from "@statehouse/standalone/data-directory";
import {
  type Environment,
  type Installation,
  type ServiceName,
  serviceEnvironments,
  serviceNames,
} from "@statehouse/standalone/environments";
import { migrations as stateMigrations } from "@statehouse/state/migrations";
import { newServiceCertificates, ownNats, type ServiceCertificates } from "@statehouse/testing";
import { migrations as workspacesMigrations } from "@statehouse/workspaces/migrations";
import { type BlobKind, blobSettings } from "./blobs.ts";
import { checkEvents } from "./event-check.ts";
import { inOneProcess } from "./one-process.ts";
import { createPeople, type People } from "./people.ts";
import { asProcesses, serviceProcess } from "./processes.ts";
import {
  createRunnerCalls,
  type RunnerCalls,
  type RunnerName,
  runnerNames,
} from "./runner-calls.ts";
import type { Channels, RunningServices, RunOptions } from "./running-services.ts";
import type { ServiceProcess } from "./service-process.ts";

export interface StackOptions {
  /** The store of state bytes; default: a folder. */
  blobs?: BlobKind;
  /** Settings of the services, as an operator would set them. */
  settings?: Record<string, string>;
  /** Changes the settings of the services before they start, for example to put a proxy between two of them. */
  rewire?: (environments: Record<ServiceName, Environment>) => Promise<void>;
  /** With `off`, services in separate processes call each other without TLS; default: mutual TLS. */
  grpcTls?: "off";
  /** Returns the URL of a service's database; default: a new database on the shared PostgreSQL. */
  databaseUrl?: Installation["databaseUrl"];
  /** Returns a service's process without starting it; default: a process of this repository's sources. */
  process?: RunOptions["process"];
}

export type DatabaseName = "access" | "workspaces" | "state";

/** A complete Statehouse with its own databases, NATS and blobs. */
export interface Stack extends AsyncDisposable {
  /** Base address of the API, without /api/v2. */
  readonly url: string;
  /** Channel to the access service, for calls that normally another service makes. */
  readonly access: Channel;
  /** Channel to the workspaces service, for calls that normally another service makes. */
  readonly workspaces: Channel;
  /** Returns channels for calls that a test makes as the service or runner `name`. */
  channelsOf(name: string): Channels;
  readonly people: People;
  /** Returns the gRPC clients of the runner with that name. */
  runnerCalls(name: RunnerName): Promise<RunnerCalls>;
  /** Returns the private key of the runner with that name, as JSON. */
  runnerKey(name: RunnerName): string;
  /** Returns host:port of the workspaces service's gRPC port. */
  runnerAddress(): Promise<string>;
  readonly databases: Record<DatabaseName, string>;
  /** Queries a service's tables directly, for values that no request writes or returns. */
  rows<Row extends object>(
    database: DatabaseName,
    sql: string,
    params?: readonly unknown[],
  ): Promise<Row[]>;
  readonly nats: Awaited<ReturnType<typeof ownNats>>;
  readonly environments: Record<ServiceName, Environment>;
}

export interface ProcessStack extends Stack {
  readonly processes: Record<ServiceName, ServiceProcess>;
  /** The certificates of the services, of runners and of the service `testing`. */
  readonly certificates: ServiceCertificates;
}

/**
 * Starts all four services in this process, on one listener, connected by in-process channels. With
 * STATEHOUSE_TEST_PROCESSES=true it starts them like `startProcesses`.
 */
export const startStack = (options: StackOptions = {}): Promise<Stack> =>
  process.env.STATEHOUSE_TEST_PROCESSES === "true"
    ? startProcesses(options)
    : start(options, inOneProcess);

/** Starts the four services as separate operating-system processes, connected by gRPC. */
export const startProcesses = (options: StackOptions = {}): Promise<ProcessStack> =>
  start(options, asProcesses);

async function start<Running extends RunningServices>(
  options: StackOptions,
  run: (installation: RunOptions) => Promise<Running>,
) {
  await using stack = new AsyncDisposableStack();
  const names = [...serviceNames, "testing", ...runnerNames];
  const secrets = await newSecrets(names);
  const certificates = stack.use(await newServiceCertificates(...names));
  const newDatabase = async (contextName: DatabaseName, migrations: typeof accessMigrations) =>
    stack.use(await freshDatabase({ contextName, migrations }));
  const fresh = {
    access: await newDatabase("access", accessMigrations),
    workspaces: await newDatabase("workspaces", workspacesMigrations),
    state: await newDatabase("state", stateMigrations),
  };
  const databases = {
    access: fresh.access.url,
    workspaces: fresh.workspaces.url,
    state: fresh.state.url,
  };
  const natsLogin = { user: natsUser, password: secrets.natsPassword };
  const nats = stack.use(await ownNats({ login: natsLogin }));
  // Benchmarks, which run outside Vitest, omit the comparison of events with the event catalog.
  if (process.env.VITEST) stack.use(await checkEvents(nats.url, natsLogin));
  const blobs = stack.use(await blobSettings(options.blobs));
  const running = stack.use(
    await run({
      certificates: options.grpcTls === "off" ? undefined : certificates,
      settings: options.settings ?? {},
      rewire: options.rewire ?? (async () => {}),
      process: options.process ?? serviceProcess,
      environments: ({ publicUrl, objectUrl, addresses }) =>
        serviceEnvironments({
          secrets,
          databaseUrl: options.databaseUrl ?? ((service) => databases[service]),
          natsUrl: nats.url,
          natsLogin,
          publicUrl,
          objectUrl,
          addresses,
          settings: {
            LOG_LEVEL: process.env.STATEHOUSE_TEST_LOG ?? "silent",
            // A stopping service need not wait until a load balancer has noticed that it is no longer ready.
            DRAIN_SECONDS: "0",
            // Tests send many invalid tokens from one address.
            FAILED_AUTHENTICATION_LIMIT: "0",
            ...blobs.settings,
            ...options.settings,
          },
        }),
      logger: createLogger({ service: "test", level: process.env.STATEHOUSE_TEST_LOG ?? "silent" }),
    }),
  );
  const testing = await createIdentity(
    "testing",
    JSON.parse(secrets.assertionKeys.testing ?? "null"),
  );
  const { access, workspaces } = running.channelsOf("testing");
  const people = createPeople(access, testing);
  const owned = stack.move();
  const runnerCalls = async (name: RunnerName) =>
    createRunnerCalls(
      running.channelsOf(name),
      await createIdentity(name, JSON.parse(secrets.assertionKeys[name] ?? "null")),
    );
  return Object.assign(running, {
    access,
    workspaces,
    certificates,
    people,
    runnerCalls,
    runnerKey: (name: RunnerName) => secrets.assertionKeys[name] ?? "null",
    databases,
    rows: <Row extends object>(name: DatabaseName, sql: string, params?: readonly unknown[]) =>
      fresh[name].query<Row>(sql, params),
    nats,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}
