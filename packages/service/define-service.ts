import type { Consumer } from "@statehouse/events";
import type { openDatabase, SealedColumn, SqlMigration } from "@statehouse/postgres";
import { createLogger } from "@statehouse/runtime";
import type { z } from "zod";
import type { ServiceName } from "./channels.ts";
import type { BaseConfig, ServiceDefinition } from "./definition.ts";
import { type GrpcTlsConfig, grpcTlsOf } from "./grpc-tls.ts";
import type { Listeners } from "./listeners.ts";
import { type OpenedApp, openApp } from "./open-app.ts";
import type { Examination } from "./preflight.ts";
import { type Dependencies, type RunningService, startService } from "./start-service.ts";

export interface Service<
  Schema extends z.ZodObject,
  Client extends ServiceName,
  App,
  Options extends object,
  L extends Listeners,
> {
  readonly name: ServiceName;
  readonly config: Schema;
  readonly entities: Parameters<typeof openDatabase>[0]["entities"];
  readonly migrations: readonly SqlMigration[];
  /** Starts the service. Does not wait for its database or other dependencies: readiness reports them. */
  start(
    config: z.output<Schema>,
    dependencies?: Dependencies<Client> & Partial<Options>,
  ): Promise<RunningService<L>>;
  /** Opens the use cases without consumers, workers and ports, for a command that runs beside the service. */
  openApp(
    config: z.output<Schema>,
    dependencies?: Pick<Dependencies<Client>, "channels" | "logger">,
  ): Promise<OpenedApp<App> & AsyncDisposable>;
  consumers(app: App): Consumer[];
  afterMigration(url: string, print: (line: string) => void): Promise<void>;
  readonly sealedColumns: readonly SealedColumn[];
  examine(config: z.output<Schema>): Readonly<Record<string, Examination>>;
}

/** Creates a service from its definition. */
export function defineService<
  Schema extends z.ZodObject,
  Client extends ServiceName,
  App,
  Resources extends AsyncDisposable | undefined = undefined,
  Options extends object = object,
  // biome-ignore lint/complexity/noBannedTypes: a service without listeners has no names of listeners
  L extends Listeners = {},
>(
  definition: ServiceDefinition<Schema, Client, App, Resources, Options, L>,
): Service<Schema, Client, App, Options, L> {
  const { name, config: schema, entities, migrations, consumers } = definition;
  return {
    name,
    config: schema,
    entities,
    migrations,
    consumers,
    afterMigration: definition.afterMigration ?? (async () => {}),
    sealedColumns: definition.sealedColumns ?? [],
    examine: definition.examine ?? (() => ({})),

    start: (config, dependencies = {} as Dependencies<Client> & Partial<Options>) =>
      startService(definition, config, dependencies),

    async openApp(config, { channels, logger: ownLogger } = {}) {
      const level = (config as unknown as BaseConfig).LOG_LEVEL;
      const logger = ownLogger ?? createLogger({ service: name, level });
      await using opening = new AsyncDisposableStack();
      const tls = () => grpcTlsOf(config as unknown as GrpcTlsConfig);
      const openingOptions = { channels, tls, logger, options: {} };
      const opened = await openApp(definition, config, openingOptions, opening);
      const stack = opening.move();
      return { ...opened, [Symbol.asyncDispose]: () => stack.disposeAsync() };
    },
  };
}
