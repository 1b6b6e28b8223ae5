import {
  auditTrailService,
  createTrail,
  startAttempts,
  startChaining,
  startPartitions,
} from "@statehouse/audit";
import { type LocalBus, observeDeadLetters, requireReachableHints } from "@statehouse/events";
import { AuditTrailService } from "@statehouse/proto/statehouse/audit/v1/audit_record";
import { type Channel, createRpcServer, implement, isRead, type RpcServer } from "@statehouse/rpc";
import {
  type Check,
  createLogger,
  createStopping,
  type Logger,
  observeDependency,
  type Stoppable,
  startOpsServer,
  watchSettings,
} from "@statehouse/runtime";
import type { z } from "zod";
import { attemptOf } from "./attempt-of.ts";
import type { ServiceName } from "./channels.ts";
import type { BaseConfig, ServiceDefinition } from "./definition.ts";
import { startGrpcTls } from "./grpc-tls.ts";
import {
  type Handlers,
  handlersOf,
  type Listeners,
  listenFunctionsOf,
  listenGrpc,
  type Ports,
  serve,
} from "./listeners.ts";
import { openApp } from "./open-app.ts";
import { localTransport, natsTransport } from "./transport.ts";

/** Dependencies that standalone provides. Without them, the service creates its own from its configuration. */
export interface Dependencies<Client extends ServiceName> {
  /**
   * If true, the service opens no ports: standalone calls `rpc.inProcess()` and serves `handlers` and `checks` itself.
   */
  embedded?: boolean;
  channels?: Record<Client, Channel>;
  /** Set if there is no NATS server. The local bus then delivers events inside the process. */
  bus?: LocalBus;
  logger?: Logger;
}

export interface RunningService<L extends Listeners = Listeners> extends Stoppable {
  readonly rpc: RpcServer;
  readonly handlers: Handlers<L>;
  /** The service is not ready if the check `database` fails. All other checks are only reported. */
  readonly checks: Readonly<Record<string, Check>>;
  /** Undefined if `embedded` is set. */
  readonly ports: Ports<(keyof L & string) | "grpc" | "ops"> | undefined;
}

/** How long background work may take to stop after the ports are closed, in ms. */
export const STOP_REST_MS = 5000;

/**
 * Starts all parts of a service in the order of their dependencies. If a step fails, stops everything that has been
 * started.
 */
export async function startService<
  Schema extends z.ZodObject,
  Client extends ServiceName,
  App,
  Resources extends AsyncDisposable | undefined,
  Options extends object,
  L extends Listeners,
>(
  definition: ServiceDefinition<Schema, Client, App, Resources, Options, L>,
  config: z.output<Schema>,
  {
    embedded = false,
    channels,
    bus,
    logger: ownLogger,
    ...rest
  }: Dependencies<Client> & Partial<Options>,
): Promise<RunningService<L>> {
  const { name } = definition;
  const settings = config as unknown as BaseConfig;
  const options = rest as Partial<Options>;
  const { LOG_LEVEL: level, LOG_FORMAT: format } = settings;
  const logger = ownLogger ?? createLogger({ service: name, level, format });
  const shutdownMs = settings.SHUTDOWN_TIMEOUT * 1000;
  const stopping = createStopping({
    service: name,
    drainMs: settings.DRAIN_SECONDS * 1000,
    logger,
  });
  await using starting = new AsyncDisposableStack();
  const { HOST: host } = settings;
  // The operations port is opened first and closed last, because the process must be live while it starts and stops.
  const ops = embedded
    ? undefined
    : starting.use(await startOpsServer({ host, port: settings.OPS_PORT }));
  // Embedded services call each other inside the process, without connections.
  const grpcTls = embedded ? undefined : startGrpcTls(settings, logger, starting);
  const openingOptions = { channels, tls: () => grpcTls, logger, options };
  const opened = await openApp(definition, config, openingOptions, starting);
  starting.use(watchSettings(config, { logger, files: [grpcTls] }));
  const { app, database, audit, callerOf } = opened;
  const source = `${settings.EVENT_SOURCE}/${name}`;
  const events = { database, service: name, source, logger };
  starting.use(observeDeadLetters(database, name));
  // The server and the ports are closed earlier, so that the last refusals are written.
  starting.use(startAttempts({ audit, logger }));
  const retentionDays = settings.AUDIT_RETENTION_DAYS;
  starting.use(startPartitions({ database, retentionDays, logger }));
  const key = settings.ASSERTION_PRIVATE_KEY;
  starting.use(startChaining({ database, service: name, key, logger }));
  // A request that reads the audit trail calls all services, so only the access service records the reading.
  const recordReading =
    name === "access"
      ? (organization: string) =>
          audit.write({
            organization,
            action: "audit-trail.read",
            resource: { type: "audit-trail" },
          })
      : undefined;
  const auditTrail = auditTrailService(createTrail(database), recordReading);
  const transport = bus
    ? localTransport(bus, events, starting)
    : natsTransport(settings, events, starting);
  const resources = (await definition.resources?.({ config, logger })) as Resources;
  if (resources) starting.use(resources);
  const running = { app, resources, config, logger, options };
  for (const worker of definition.workers?.(running) ?? []) starting.use(worker);
  const consumers = definition.consumers(app);
  requireReachableHints(consumers);
  for (const consumer of consumers) transport.consume(consumer);
  transport.serveListing(definition.listing({ database, source }));
  const rpc = starting.use(
    createRpcServer({
      name,
      keys: settings.ASSERTION_PUBLIC_KEYS,
      // A service that loads grants itself loads them again for every write, so that credentials and grants are created
      // only with current permissions.
      context: async (principal, method) => ({
        caller: await callerOf(principal, {
          currentGrants: definition.grants !== undefined && !isRead(method),
        }),
      }),
      onRefusal: (method, error, refusal) => audit.refused(attemptOf(method, error, refusal)),
      logger,
      bindings: [...definition.bindings(app), implement(AuditTrailService, auditTrail)],
    }),
  );
  const checks = {
    database: () => database.ready(),
    nats: () => transport.ready(),
    ...definition.checks?.(running),
  };
  for (const [dependency, check] of Object.entries(checks)) {
    starting.use(observeDependency(name, dependency, check));
  }
  const listeners = definition.listeners?.(running) ?? ({} as L);
  const ports =
    ops &&
    (await serve(
      {
        service: name,
        host,
        stopping: stopping.signal,
        shutdownMs,
        ops,
        checks,
        required: ["database"],
        listeners: {
          grpc: listenGrpc(rpc, settings.GRPC_PORT, grpcTls),
          ...listenFunctionsOf(listeners),
        },
        logger,
      },
      starting,
    ));
  const started = starting.move();
  return {
    rpc,
    handlers: handlersOf(listeners),
    checks,
    ports: ports as RunningService<L>["ports"],
    drain: () => stopping.drain(),
    stopMs: shutdownMs + STOP_REST_MS,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
