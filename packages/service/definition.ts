import type { Audit } from "@statehouse/audit";
import type { Consumer, Listing, ListingSource } from "@statehouse/events";
import type {
  Database,
  openDatabase,
  Pooling,
  SealedColumn,
  SqlMigration,
} from "@statehouse/postgres";
import type {
  AssertionKeys,
  CallerFactory,
  Channel,
  createIdentity,
  GrantsLoader,
  ServiceBinding,
  ServiceIdentity,
} from "@statehouse/rpc";
import type { Check, Logger } from "@statehouse/runtime";
import type { z } from "zod";
import type { ServiceName } from "./channels.ts";
import type { GrpcTlsConfig } from "./grpc-tls.ts";
import type { Listeners } from "./listeners.ts";
import type { NatsConfig } from "./nats-options.ts";
import type { Examination } from "./preflight.ts";

/** The settings that every service has. */
export interface BaseConfig extends NatsConfig, GrpcTlsConfig {
  LOG_LEVEL: string;
  LOG_FORMAT: "numbers" | "names";
  DATABASE_URL: () => string;
  DATABASE_POOL_SIZE: number;
  DATABASE_POOLING: Pooling;
  HOST: string;
  GRPC_PORT: number;
  OPS_PORT: number;
  DRAIN_SECONDS: number;
  SHUTDOWN_TIMEOUT: number;
  AUDIT_RETENTION_DAYS: number;
  ASSERTION_PRIVATE_KEY: Parameters<typeof createIdentity>[1];
  ASSERTION_PUBLIC_KEYS: () => AssertionKeys;
}

/** The dependencies that `app` receives to create an App. */
export interface AppDependencies<
  Config,
  Client extends ServiceName,
  Options extends object = object,
> {
  config: Config;
  database: Database;
  /** Records reads and refused attempts. Transactions record changes. */
  audit: Audit;
  channels: Record<Client, Channel>;
  identity: ServiceIdentity;
  /** Creates the `Caller` of a principal, with the principal's grants. */
  callerOf: CallerFactory;
  logger: Logger;
  options: Partial<Options>;
}

/** A started service, in the form in which `workers`, `checks` and `listeners` receive it. */
export interface Running<Config, App, Resources, Options extends object> {
  app: App;
  resources: Resources;
  config: Config;
  logger: Logger;
  options: Partial<Options>;
}

/** The definition that `defineService` turns into a service. */
export interface ServiceDefinition<
  Schema extends z.ZodObject,
  Client extends ServiceName,
  App,
  Resources extends AsyncDisposable | undefined,
  Options extends object,
  L extends Listeners,
> {
  name: ServiceName;
  /** The schema of the service's environment variables. */
  config: Schema;
  entities: Parameters<typeof openDatabase>[0]["entities"];
  migrations: readonly SqlMigration[];
  /** The other services that this service calls. */
  clients: readonly Client[];
  app(dependencies: AppDependencies<z.output<Schema>, Client, Options>): App;
  /**
   * Returns a loader that replaces the usual loading of a principal's grants. The loader is called again for every
   * write. If omitted, grants are loaded from the access service and cached by the principal's version vector.
   */
  grants?(app: App): GrantsLoader;
  bindings(app: App): ServiceBinding[];
  /** Creates the listing of the service's objects for subscribers. */
  listing(source: ListingSource): Listing;
  consumers(app: App): Consumer[];
  /** Opens resources when the service starts. Commands do not open them. */
  resources?(context: { config: z.output<Schema>; logger: Logger }): Promise<Resources>;
  /** Starts background work, which runs until the service stops. */
  workers?(running: Running<z.output<Schema>, App, Resources, Options>): readonly AsyncDisposable[];
  /** Returns checks of dependencies that readiness reports in addition to `database` and `nats`. */
  checks?(
    running: Running<z.output<Schema>, App, Resources, Options>,
  ): Readonly<Record<string, Check>>;
  /** Returns listeners for ports in addition to those of gRPC and operations. */
  listeners?(running: Running<z.output<Schema>, App, Resources, Options>): L;
  /** Runs at the end of the migrate command, on the database that was migrated. */
  afterMigration?(url: string, print: (line: string) => void): Promise<void>;
  /**
   * Examines parts of the configuration for the preflight command, in addition to settings, keys, database and NATS.
   */
  examine?(config: z.output<Schema>): Readonly<Record<string, Examination>>;
  /** All sealed columns, which `rotate-keys` re-encrypts. */
  sealedColumns?: readonly SealedColumn[];
}
