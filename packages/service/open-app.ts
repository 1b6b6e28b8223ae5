import { type Audit, createAudit } from "@statehouse/audit";
import { type Database, openDatabase } from "@statehouse/postgres";
import {
  type CallerFactory,
  type Channel,
  createCallers,
  createIdentity,
  type GrpcTls,
  grantsFromAccess,
} from "@statehouse/rpc";
import type { Logger } from "@statehouse/runtime";
import type { z } from "zod";
import { openChannels, type ServiceAddresses, type ServiceName } from "./channels.ts";
import type { BaseConfig, ServiceDefinition } from "./definition.ts";
import type { Listeners } from "./listeners.ts";

export interface OpenedApp<App> {
  app: App;
  database: Database;
  audit: Audit;
  callerOf: CallerFactory;
}

interface OpeningOptions<Client extends ServiceName, Options extends object> {
  /** If set, these channels are used instead of channels to the configured addresses. */
  channels: Record<Client, Channel> | undefined;
  /** Mutual TLS of the service's calls, if it makes any. */
  tls: () => GrpcTls | undefined;
  logger: Logger;
  options: Partial<Options>;
}

/** Opens the database, the channels to other services, and the use cases. `stack` closes them. */
export async function openApp<
  Schema extends z.ZodObject,
  Client extends ServiceName,
  App,
  Resources extends AsyncDisposable | undefined,
  Options extends object,
  L extends Listeners,
>(
  definition: ServiceDefinition<Schema, Client, App, Resources, Options, L>,
  config: z.output<Schema>,
  { channels: configured, tls, logger, options }: OpeningOptions<Client, Options>,
  stack: AsyncDisposableStack,
): Promise<OpenedApp<App>> {
  const { name, entities, migrations, clients } = definition;
  const settings = config as unknown as BaseConfig & ServiceAddresses<Client>;
  const database = stack.use(
    await openDatabase({
      contextName: name,
      url: settings.DATABASE_URL,
      poolSize: settings.DATABASE_POOL_SIZE,
      pooling: settings.DATABASE_POOLING,
      entities,
      migrations,
      logger,
    }),
  );
  const channels = configured ?? openChannels(clients, settings, tls(), stack);
  const identity = await createIdentity(name, settings.ASSERTION_PRIVATE_KEY);
  const callerOf = createCallers((principal) => load(principal));
  const audit = createAudit(database, name);
  const dependencies = { config, database, audit, channels, identity, callerOf, logger, options };
  const app = definition.app(dependencies);
  const load = definition.grants?.(app) ?? grantsFromAccess(accessOf(channels), identity);
  return { app, database, audit, callerOf };
}

function accessOf(channels: Partial<Record<ServiceName, Channel>>): Channel {
  if (!channels.access)
    throw new Error("A service that does not load grants itself must be a client of access");
  return channels.access;
}
