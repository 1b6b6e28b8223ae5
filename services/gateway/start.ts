import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AppError } from "@statehouse/errors";
import { createIdentity, grpcChannel } from "@statehouse/rpc";
import {
  type Check,
  createLogger,
  createOpsHandler,
  edition,
  type OpsHandler,
  runWithDeadline,
  StartError,
} from "@statehouse/runtime";
import type { Config } from "./config.ts";
import { createAuthentication } from "./http/authentication.ts";
import { createGateway } from "./http/gateway.ts";
import type { Route } from "./http/route.ts";
import { createObjectUpload } from "./object-upload.ts";
import { routes } from "./routes/routes.ts";
import { type Channels, createServices, type Services } from "./services.ts";

/** What another process of ours brings when the gateway is a part of it. */
export interface Parts {
  /** Roads to services in this process; otherwise gRPC to the configured addresses. */
  channels?: Channels;
  /** False: no listener of its own, `handler` is mounted on somebody else's. */
  listen?: boolean;
}

export interface RunningGateway extends AsyncDisposable {
  handler: RequestListener;
  routes: readonly Route[];
  checks: Readonly<Record<string, Check>>;
  opsHandler: OpsHandler;
  /** The port it listens on, when it does. */
  port: number | undefined;
}

/** How long requests under way may take to end when it stops, in ms. */
const DRAIN_MS = 10_000;
/** Longer than an ingress keeps its idle connections, so that it never writes into a closing one. */
const KEEP_ALIVE_MS = 75_000;

/** Starts the gateway. Throws `StartError` when its port is taken. */
export async function start(config: Config, parts: Parts = {}): Promise<RunningGateway> {
  const stack = new AsyncDisposableStack();
  try {
    const logger = createLogger({ service: "gateway", level: config.LOG_LEVEL });
    const identity = await createIdentity("gateway", config.ASSERTION_PRIVATE_KEY);
    const channels = parts.channels ?? stack.use(grpcChannels(config));
    const objects = stack.use(createObjectUpload(config.STATE_OBJECT_URL ?? config.PUBLIC_URL));
    const services = createServices(channels, identity, objects);
    const handler = createGateway({
      routes,
      services,
      authenticate: createAuthentication(services.access.authentication, identity),
      edition: edition(config.EDITION),
      settings: { remoteOperations: config.REMOTE_OPERATIONS },
      logger,
      publicUrl: config.PUBLIC_URL.replace(/\/+$/, ""),
      maxBodyBytes: config.MAX_BODY_BYTES,
      requestTimeoutMs: config.REQUEST_TIMEOUT * 1000,
    });
    const checks = checksOf(services);
    // None of them is required: a gateway without its services still says so, in JSON.
    const opsHandler = createOpsHandler({ checks, required: [] });
    let port: number | undefined;
    if (parts.listen ?? true) {
      const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handler);
      port = await listen(server, config.HOST, config.PORT);
      stack.defer(() => drain(server));
      logger.info({ port }, "listening");
    }
    const owned = stack.move();
    return {
      handler,
      routes,
      checks,
      opsHandler,
      port,
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function grpcChannels(config: Config): Channels & AsyncDisposable {
  const access = grpcChannel({ address: config.ACCESS_ADDRESS, audience: "access" });
  const workspaces = grpcChannel({ address: config.WORKSPACES_ADDRESS, audience: "workspaces" });
  const state = grpcChannel({ address: config.STATE_ADDRESS, audience: "state" });
  return {
    access,
    workspaces,
    state,
    async [Symbol.asyncDispose]() {
      for (const channel of [access, workspaces, state]) await channel[Symbol.asyncDispose]();
    },
  };
}

/** For how long a check waits, in ms; shorter than the operations server's own patience. */
const CHECK_MS = 1500;

/** Access is asked about a token that nobody has: being told so is the proof that it answers. */
function checksOf({ access }: Services): Readonly<Record<string, Check>> {
  return {
    access: async () => {
      try {
        await runWithDeadline(Date.now() + CHECK_MS, () =>
          access.authentication.authenticate({ token: "readiness" }),
        );
      } catch (error) {
        if (error instanceof AppError && error.kind === "unauthenticated") return;
        throw error;
      }
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new StartError(`Cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Takes no new request, lets those under way end, and no longer than `DRAIN_MS`. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
