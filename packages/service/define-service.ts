import type { Caller, Principal } from "@statehouse/authorization";
import {
  type Consumer,
  connectNats,
  type LocalBus,
  startConsumer,
  startLocalRelay,
  startRelay,
} from "@statehouse/events";
import { type Database, openDatabase, type Sealer, type SqlMigration } from "@statehouse/postgres";
import {
  type AssertionKeys,
  type Channel,
  createCallers,
  createIdentity,
  createRpcServer,
  type GrantsLoader,
  grantsFromAccess,
  type RpcServer,
  type ServiceBinding,
  type ServiceIdentity,
} from "@statehouse/rpc";
import { type Check, createLogger, type Logger } from "@statehouse/runtime";
import type { z } from "zod";
import { type Clients, openChannels, type ServiceAddresses } from "./channels.ts";
import { type Listener, type Ports, serve } from "./listeners.ts";

/** The settings that every service has. */
interface BaseConfig {
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
export interface AppParts<Config, Client extends Clients, Options extends object = object> {
  config: Config;
  database: Database;
  channels: Record<Client, Channel>;
  identity: ServiceIdentity;
  /** Creates the caller of a principal, with its grants. */
  callerOf(principal: Principal): Promise<Caller>;
  logger: Logger;
  options: Partial<Options>;
}

interface Running<Config, App, Resources, Options extends object> {
  app: App;
  resources: Resources;
  config: Config;
  logger: Logger;
  options: Partial<Options>;
}

type Listeners = Record<string, Listener<unknown>>;
type Handlers<L extends Listeners> = { readonly [Name in keyof L]: L[Name]["handler"] };

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
  app(parts: AppParts<z.output<Schema>, Client, Options>): App;
  /** Loads a principal's grants. Default: from access. */
  grants?(app: App): GrantsLoader;
  bindings(app: App): ServiceBinding[];
  consumers(app: App): Consumer[];
  /** Opened when the service starts, not by its commands. */
  resources?(parts: { config: z.output<Schema>; logger: Logger }): Promise<Resources>;
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

/** What a composition provides instead of the configuration. */
interface Dependencies<Client extends Clients> {
  /** Opens no ports: the composition calls `rpc.inProcess()` and serves `handlers` and `checks` itself. */
  embedded?: boolean;
  channels?: Record<Client, Channel>;
  /** Set if no NATS server runs: delivers events inside the process. */
  bus?: LocalBus;
  logger?: Logger;
}

export interface RunningService<L extends Listeners = Listeners> extends AsyncDisposable {
  readonly rpc: RpcServer;
  readonly handlers: Handlers<L>;
  /** Without `database` the service is not ready; all other dependencies are only reported. */
  readonly checks: Readonly<Record<string, Check>>;
  /** Undefined if embedded. */
  readonly ports: Ports<(keyof L & string) | "grpc" | "ops"> | undefined;
}

export interface OpenedApp<App> extends AsyncDisposable {
  app: App;
  database: Database;
  callerOf(principal: Principal): Promise<Caller>;
}

export interface Service<
  Schema extends z.ZodObject,
  Client extends Clients,
  App,
  Options extends object,
  L extends Listeners,
> {
  readonly name: Clients;
  readonly config: Schema;
  readonly entities: Parameters<typeof openDatabase>[0]["entities"];
  readonly migrations: readonly SqlMigration[];
  /** Starts the service. Does not wait for its database or dependencies: readiness reports them. */
  start(
    config: z.output<Schema>,
    dependencies?: Dependencies<Client> & Partial<Options>,
  ): Promise<RunningService<L>>;
  /** The use cases without consumers, workers and ports, for a command that runs beside the service. */
  openApp(
    config: z.output<Schema>,
    dependencies?: Pick<Dependencies<Client>, "channels" | "logger">,
  ): Promise<OpenedApp<App>>;
  consumers(app: App): Consumer[];
  afterMigration(print: (line: string) => void): Promise<void>;
  rotateKeys(database: Database, sealer: Sealer): Promise<number>;
}

/** Creates a service from its definition. */
export function defineService<
  Schema extends z.ZodObject,
  Client extends Clients,
  App,
  Resources extends AsyncDisposable | undefined = undefined,
  Options extends object = object,
  // biome-ignore lint/complexity/noBannedTypes: no listeners, and so no names of any
  L extends Listeners = {},
>(
  definition: ServiceDefinition<Schema, Client, App, Resources, Options, L>,
): Service<Schema, Client, App, Options, L> {
  const { name, entities, migrations, clients } = definition;
  type Config = z.output<Schema>;

  const open = async (
    config: Config,
    { channels: given, logger, options }: Given<Client, Options>,
    stack: AsyncDisposableStack,
  ) => {
    const settings = config as unknown as BaseConfig & ServiceAddresses<Client>;
    const url = settings.DATABASE_URL;
    const database = stack.use(
      await openDatabase({ contextName: name, url, entities, migrations, logger }),
    );
    const channels = given ?? openChannels(clients, settings, stack);
    const identity = await createIdentity(name, settings.ASSERTION_PRIVATE_KEY);
    const callerOf = createCallers((principal) => load(principal));
    const parts = { config, database, channels, identity, callerOf, logger, options };
    const app = definition.app(parts);
    const load = definition.grants?.(app) ?? grantsFromAccess(accessOf(channels), identity);
    return { app, database, callerOf, settings };
  };

  return {
    name,
    config: definition.config,
    entities,
    migrations,
    consumers: definition.consumers,
    afterMigration: definition.afterMigration ?? (async () => {}),
    rotateKeys: definition.rotateKeys ?? (async () => 0),

    async start(config, { embedded = false, channels, bus, logger: ownLogger, ...rest } = {}) {
      const options = rest as Partial<Options>;
      const logger = ownLogger ?? createLogger({ service: name, level: levelOf(config) });
      await using starting = new AsyncDisposableStack();
      const opened = await open(config, { channels, logger, options }, starting);
      const { app, database, callerOf, settings } = opened;
      const events = { database, service: name, logger };
      const transport = bus
        ? localTransport(bus, events, starting)
        : natsTransport(settings, events, starting);
      const resources = (await definition.resources?.({ config, logger })) as Resources;
      if (resources) starting.use(resources);
      const running = { app, resources, config, logger, options };
      for (const worker of definition.workers?.(running) ?? []) starting.use(worker);
      for (const consumer of definition.consumers(app)) transport.consume(consumer);
      const rpc = starting.use(
        createRpcServer({
          name,
          keys: settings.ASSERTION_PUBLIC_KEYS,
          context: async (principal) => ({ caller: await callerOf(principal) }),
          ready: () => database.ready(),
          logger,
          bindings: definition.bindings(app),
        }),
      );
      const checks = {
        database: () => database.ready(),
        nats: () => transport.ready(),
        ...definition.checks?.(running),
      };
      const listeners = definition.listeners?.(running) ?? ({} as L);
      const ports = embedded
        ? undefined
        : await serve(
            {
              service: name,
              host: settings.HOST,
              opsPort: settings.OPS_PORT,
              checks,
              required: ["database"],
              listeners: { grpc: listenGrpc(rpc, settings.GRPC_PORT), ...opening(listeners) },
              logger,
            },
            starting,
          );
      const started = starting.move();
      return {
        rpc,
        handlers: handlersOf(listeners),
        checks,
        ports: ports as RunningService<L>["ports"],
        [Symbol.asyncDispose]: () => started.disposeAsync(),
      };
    },

    async openApp(config, { channels, logger: ownLogger } = {}) {
      const logger = ownLogger ?? createLogger({ service: name, level: levelOf(config) });
      await using opening = new AsyncDisposableStack();
      const given = { channels, logger, options: {} };
      const { app, database, callerOf } = await open(config, given, opening);
      const opened = opening.move();
      return { app, database, callerOf, [Symbol.asyncDispose]: () => opened.disposeAsync() };
    },
  };
}

/** How events leave a service and how it receives those of others. */
interface Transport {
  consume(consumer: Consumer): void;
  ready(): Promise<void>;
}

interface Events {
  database: Database;
  service: string;
  logger: Logger;
}

function natsTransport(
  settings: BaseConfig,
  events: Events,
  stack: AsyncDisposableStack,
): Transport {
  const { NATS_URL: url, STREAM_REPLICAS: streamReplicas } = settings;
  const nats = stack.use(connectNats({ url, name: events.service, streamReplicas }));
  stack.use(startRelay({ ...events, nats }));
  return {
    consume: (consumer) => void stack.use(startConsumer({ ...events, nats, ...consumer })),
    ready: () => nats.ready(),
  };
}

function localTransport(bus: LocalBus, events: Events, stack: AsyncDisposableStack): Transport {
  stack.use(startLocalRelay({ ...events, bus }));
  return {
    consume: (consumer) => void stack.use(bus.subscribe(consumer, events.logger)),
    ready: async () => {
      throw new Error("no NATS server runs; events wait in the outbox");
    },
  };
}

interface Given<Client extends Clients, Options extends object> {
  channels: Record<Client, Channel> | undefined;
  logger: Logger;
  options: Partial<Options>;
}

const levelOf = (config: object): string => (config as BaseConfig).LOG_LEVEL;

function accessOf(channels: Partial<Record<Clients, Channel>>): Channel {
  if (!channels.access)
    throw new Error("A service that does not load grants itself must call access");
  return channels.access;
}

/** The owner of the server closes it. */
const listenGrpc = (rpc: RpcServer, port: number) => async (host: string) => ({
  port: (await rpc.listen({ host, port })).port,
  [Symbol.asyncDispose]: async () => {},
});

const opening = <L extends Listeners>(listeners: L) =>
  Object.fromEntries(
    Object.entries(listeners).map(([name, listener]) => [
      name,
      (host: string) => listener.listen(host),
    ]),
  );

const handlersOf = <L extends Listeners>(listeners: L) =>
  Object.fromEntries(
    Object.entries(listeners).map(([name, { handler }]) => [name, handler]),
  ) as Handlers<L>;
