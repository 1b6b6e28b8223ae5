import type { RequestListener } from "node:http";
import { AppError, type ErrorKind } from "@statehouse/errors";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { createClient, createIdentity, type ServiceIdentity } from "@statehouse/rpc";
import {
  type Check,
  ConfigError,
  createAuthenticationLimit,
  createLogger,
  createProxies,
  createStopping,
  deadlinesOf,
  edition,
  type Logger,
  openHttpPort,
  runWithDeadline,
  type Stoppable,
  startOpsServer,
  watchSettings,
} from "@statehouse/runtime";
import {
  openChannels,
  type PortOptions,
  type Ports,
  STOP_REST_MS,
  serve,
  startGrpcTls,
} from "@statehouse/service";
import { type Config, configSchema } from "./config.ts";
import { createAuthentication } from "./http/authentication.ts";
import { createBodyMemory } from "./http/body-memory.ts";
import { createBodyParser } from "./http/body-parser.ts";
import { type Channels, type ClientFactory, createClientFactory } from "./http/clients.ts";
import { createGateway } from "./http/gateway.ts";
import { createObjectUpload } from "./http/object-upload.ts";
import type { Route } from "./http/route.ts";
import { routes } from "./routes.ts";

/** Dependencies that standalone provides. Without them, the gateway creates its own from its configuration. */
interface Dependencies {
  /** If set, no listeners are opened: standalone mounts `handler` and serves `checks` itself. */
  embedded?: boolean;
  channels?: Channels;
  logger?: Logger;
}

export interface RunningGateway extends Stoppable {
  readonly handler: RequestListener;
  readonly routes: readonly Route[];
  /** Readiness requires none of these checks: the gateway responds in JSON even if its services are unavailable. */
  readonly checks: Readonly<Record<keyof Channels, Check>>;
  /** Undefined if `embedded` is set. */
  readonly ports: Ports<"http" | "ops"> | undefined;
}

const SERVICE = "gateway";

/** Starts the gateway. Throws `StartError` if a port is in use, and `ConfigError` for inconsistent time limits. */
async function start(config: Config, parts: Dependencies = {}): Promise<RunningGateway> {
  requireConsistentTimeouts(config);
  await using starting = new AsyncDisposableStack();
  const { LOG_LEVEL: level, LOG_FORMAT: format } = config;
  const logger = parts.logger ?? createLogger({ service: SERVICE, level, format });
  const shutdownMs = config.SHUTDOWN_TIMEOUT * 1000;
  const drainMs = config.DRAIN_SECONDS * 1000;
  const stopping = createStopping({ service: SERVICE, drainMs, logger });
  // The operations port is opened first and closed last, because the process must be live while it starts and stops.
  const ops = parts.embedded
    ? undefined
    : starting.use(await startOpsServer({ host: config.HOST, port: config.OPS_PORT }));
  const identity = await createIdentity(SERVICE, config.ASSERTION_PRIVATE_KEY);
  // If all services run in one process, there are no connections between them.
  const grpcTls = parts.channels ? undefined : startGrpcTls(config, logger, starting);
  starting.use(watchSettings(config, { logger, files: [grpcTls] }));
  const channels =
    parts.channels ?? openChannels(["access", "workspaces", "state"], config, grpcTls, starting);
  const objects = starting.use(createObjectUpload(config.STATE_OBJECT_URL ?? config.PUBLIC_URL));
  const client = createClientFactory(channels);
  const authentication = createClient(AuthenticationService, channels.access, identity);
  const proxies = createProxies(config.TRUSTED_PROXIES);
  const handler = createGateway({
    routes,
    client,
    objects,
    authenticate: createAuthentication(authentication, identity),
    recordRefusal: async (caller, route, code) => {
      await authentication.recordRefusal({ route, code }, caller);
    },
    edition: edition(config.EDITION),
    settings: { remoteOperations: config.REMOTE_OPERATIONS, publicUrl: config.PUBLIC_URL },
    logger,
    proxies,
    authenticationLimit: createAuthenticationLimit({
      perMinute: config.FAILED_AUTHENTICATION_LIMIT,
      proxies,
      logger,
    }),
    requestsPerSecond: config.RATE_LIMIT,
    corsOrigins: config.CORS_ORIGINS,
    maxBodyBytes: config.MAX_BODY_BYTES,
    bodyParser: starting.use(createBodyParser()),
    bodyMemory: createBodyMemory({
      total: config.MAX_BODIES_BYTES,
      largestBody: config.MAX_BODY_BYTES,
    }),
    bodyTimeoutMs: config.BODY_TIMEOUT * 1000,
    requestTimeoutMs: config.REQUEST_TIMEOUT * 1000,
  });
  const checks = checksOf(client, identity);

  const listen = (options: PortOptions) =>
    openHttpPort({
      ...options,
      port: config.PORT,
      drainMs,
      deadlines: deadlinesOf(config),
      handler(request, response, awaitsContinue) {
        if (awaitsContinue) response.writeContinue();
        handler(request, response);
      },
    });
  const ports =
    ops &&
    (await serve(
      {
        service: SERVICE,
        host: config.HOST,
        stopping: stopping.signal,
        shutdownMs,
        ops,
        checks,
        required: [],
        listeners: { http: listen },
        logger,
      },
      starting,
    ));
  const running = starting.move();
  return {
    handler,
    routes,
    checks,
    ports,
    drain: () => stopping.drain(),
    stopMs: shutdownMs + STOP_REST_MS,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Throws unless IDLE_TIMEOUT exceeds REQUEST_TIMEOUT. Otherwise a connection could be closed as idle before its response
 * is sent.
 */
function requireConsistentTimeouts({ REQUEST_TIMEOUT, IDLE_TIMEOUT }: Config): void {
  if (REQUEST_TIMEOUT < IDLE_TIMEOUT) return;
  throw new ConfigError(
    `REQUEST_TIMEOUT: must be less than IDLE_TIMEOUT, which is ${IDLE_TIMEOUT} seconds`,
  );
}

/** The public API: authentication, routes and JSON:API documents. */
export const service = { name: SERVICE, config: configSchema, start } as const;

/** Time limit of a readiness check, in ms. Shorter than the limit of the operations server. */
const CHECK_MS = 1500;

/** Resolves if the service responds, even if it refuses the call. */
async function answers(call: () => Promise<unknown>): Promise<void> {
  try {
    await runWithDeadline(Date.now() + CHECK_MS, call);
  } catch (error) {
    const silent: readonly ErrorKind[] = ["unavailable", "deadlineExceeded"];
    if (!(error instanceof AppError) || silent.includes(error.kind)) throw error;
  }
}

/**
 * Returns checks that call each service with the gateway's own identity. The services refuse these calls, which is
 * enough to show that they respond; the calls change nothing.
 */
const checksOf = (client: ClientFactory, identity: ServiceIdentity): RunningGateway["checks"] => ({
  access: () =>
    answers(() => client(AuthenticationService).authenticate({ token: "readiness" }, identity)),
  workspaces: () => answers(() => client(WorkspaceService).getWorkspace({}, identity)),
  state: () => answers(() => client(StateVersionService).getStateVersion({}, identity)),
});
