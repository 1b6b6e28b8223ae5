import type { Consumer } from "@statehouse/events";
import type { Database, openDatabase, Sealer, SqlMigration } from "@statehouse/postgres";
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
import type { Clients } from "./channels.ts";
import type { Listeners } from "./listeners.ts";

/** The settings that every service has. */
export interface BaseConfig {
  LOG_LEVEL: string;
  DATABASE_URL: string;
  NATS_URL: string;
  STREAM_REPLICAS: number;
  HOST: string;
  GRPC_PORT: number;
  OPS_PORT: number;
  ASSERTION_PRIVATE_KEY: Parameters<typeof createIdentity>[1];
  ASSERTION_PUBLIC_KEYS: AssertionKeys;
}

/** The dependencies from which an App is created. */
export interface AppDependencies<Config, Client extends Clients, Options extends object = object> {
  config: Config;
  database: Database;
  channels: Record<Client, Channel>;
  identity: ServiceIdentity;
  /** Creates the caller of a principal, with its grants. */
  callerOf: CallerFactory;
  logger: Logger;
  options: Partial<Options>;
}

/** A service that starts, for its workers, checks and listeners. */
export interface Running<Config, App, Resources, Options extends object> {
  app: App;
  resources: Resources;
  config: Config;
  logger: Logger;
  options: Partial<Options>;
}

/** From which `defineService` creates a service. */
export interface ServiceDefinition<
  Schema extends z.ZodObject,
  Client extends Clients,
  App,
  Resources extends AsyncDisposable | undefined,
  Options extends object,
  L extends Listeners,
> {
  name: Clients;
  /** The environment. */
  config: Schema;
  entities: Parameters<typeof openDatabase>[0]["entities"];
  migrations: readonly SqlMigration[];
  /** The clients of other services. */
  clients: readonly Client[];
  app(dependencies: AppDependencies<z.output<Schema>, Client, Options>): App;
  /** Loads a principal's grants, again for every write. Default: from access, once for each of its versions. */
  grants?(app: App): GrantsLoader;
  bindings(app: App): ServiceBinding[];
  consumers(app: App): Consumer[];
  /** Opened when the service starts, not by its commands. */
  resources?(given: { config: z.output<Schema>; logger: Logger }): Promise<Resources>;
  /** Background work, from start to stop. */
  workers?(running: Running<z.output<Schema>, App, Resources, Options>): readonly AsyncDisposable[];
  /** Dependencies in addition to `database` and `nats` that readiness reports. */
  checks?(
    running: Running<z.output<Schema>, App, Resources, Options>,
  ): Readonly<Record<string, Check>>;
  /** Ports in addition to those of gRPC and operations. */
  listeners?(running: Running<z.output<Schema>, App, Resources, Options>): L;
  /** Runs at the end of the migrate command. */
  afterMigration?(print: (line: string) => void): Promise<void>;
  /** Re-encrypts the sealed columns under the sealer's first key; returns the number of values. */
  rotateKeys?(database: Database, sealer: Sealer): Promise<number>;
}
