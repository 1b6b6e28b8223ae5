import { createLogger } from "@statehouse/runtime";
import type { z } from "zod";
import type { ServiceName } from "./channels.ts";
import type { BaseConfig, ServiceDefinition } from "./definition.ts";
import { type GrpcTlsConfig, grpcTlsOf } from "./grpc-tls.ts";
import type { Listeners } from "./listeners.ts";
import { type OpenedApp, openApp } from "./open-app.ts";
import { type Dependencies, type RunningService, startService } from "./start-service.ts";

/** Creates a service from its definition. */
export function defineService<
  Schema extends z.ZodObject,
  Client extends ServiceName,
  App,
  Resources extends AsyncDisposable | undefined = undefined,
  Options extends object = object,
  // biome-ignore lint/complexity/noBannedTypes: a service without listeners has no names of listeners
  L extends Listeners = {},
>(definition: ServiceDefinition<Schema, Client, App, Resources, Options, L>) {
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

    /** Starts the service. Does not wait for its database or other dependencies: readiness reports them. */
    start: (
      config: z.output<Schema>,
      dependencies = {} as Dependencies<Client> & Partial<Options>,
    ): Promise<RunningService<L>> => startService(definition, config, dependencies),

    /** Opens the use cases without consumers, workers and ports, for a command that runs beside the service. */
    async openApp(
      config: z.output<Schema>,
      { channels, logger: ownLogger }: Pick<Dependencies<Client>, "channels" | "logger"> = {},
    ): Promise<OpenedApp<App> & AsyncDisposable> {
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
