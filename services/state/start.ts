import { connectNats, startConsumer, startRelay } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import {
  type Channel,
  createIdentity,
  createRpcServer,
  grpcChannel,
  type RpcServer,
} from "@statehouse/rpc";
import { type Check, createLogger, type Logger, startOpsServer } from "@statehouse/runtime";
import type { StateConfig } from "./config.ts";
import { consumptions } from "./consumers/consumptions.ts";
import { createApp } from "./create-app.ts";
import { createObjectHandler, type ObjectHandler } from "./objects/handler.ts";
import { openBlobStore } from "./objects/open-store.ts";
import { startObjectServer } from "./objects/server.ts";
import { bindings } from "./rpc/bindings.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";
import { startBlobDeletion } from "./workers/blob-deletion.ts";
import { startCollector } from "./workers/collector.ts";
import { startExtraction } from "./workers/extraction.ts";
import { startHousekeeping } from "./workers/housekeeping.ts";
import { startSweeper } from "./workers/sweeper.ts";
import { startVerifier } from "./workers/verifier.ts";

const SERVICE = "state";

/** What a composition gives instead of what the configuration would make. */
export interface StateParts {
  /** Opens no listeners: the composition calls `rpc.inProcess()` and serves handler and checks itself. */
  embedded?: boolean;
  channels?: { access: Channel; workspaces: Channel };
  logger?: Logger;
}

export interface RunningState extends AsyncDisposable {
  readonly rpc: RpcServer;
  /** Answers everything under /v1/object. */
  readonly objectHandler: ObjectHandler;
  /** Without `database` the service is not ready; the others are only reported. */
  readonly checks: Readonly<Record<"database" | "nats" | "blobs", Check>>;
  /** Undefined when embedded. */
  readonly ports: { grpc: number; ops: number; objects: number } | undefined;
}

/** Starts the service. Waits neither for its database nor for bus or store: readiness tells. */
export async function start(config: StateConfig, parts: StateParts = {}): Promise<RunningState> {
  const logger = parts.logger ?? createLogger({ service: SERVICE, level: config.LOG_LEVEL });
  await using starting = new AsyncDisposableStack();
  const database = starting.use(
    await openDatabase({
      contextName: SERVICE,
      url: config.DATABASE_URL,
      entities,
      migrations,
      logger,
    }),
  );
  const nats = starting.use(
    connectNats({
      url: config.NATS_URL,
      name: SERVICE,
      streamReplicas: config.STREAM_REPLICAS,
    }),
  );
  starting.use(startRelay({ database, nats, service: SERVICE, logger }));
  const channels = parts.channels ?? {
    access: starting.use(grpcChannel({ address: config.ACCESS_ADDRESS, audience: "access" })),
    workspaces: starting.use(
      grpcChannel({ address: config.WORKSPACES_ADDRESS, audience: "workspaces" }),
    ),
  };
  const identity = await createIdentity(SERVICE, config.ASSERTION_PRIVATE_KEY);
  const { app, callerOf } = createApp(config, { database, channels, identity, logger });

  const store = starting.use(await openBlobStore(config, logger));
  const work = { app, store, logger };
  starting.use(startHousekeeping(work));
  starting.use(startExtraction(work));
  starting.use(startBlobDeletion(work));
  starting.use(startSweeper(work));
  starting.use(startCollector(work));
  starting.use(startVerifier(work));
  for (const consumption of consumptions(app)) {
    starting.use(startConsumer({ nats, database, service: SERVICE, ...consumption, logger }));
  }
  const rpc = starting.use(
    createRpcServer({
      name: SERVICE,
      keys: config.ASSERTION_PUBLIC_KEYS,
      context: async (principal) => ({ caller: await callerOf(principal) }),
      ready: () => database.ready(),
      logger,
      bindings: bindings(app),
    }),
  );
  const objectHandler = createObjectHandler(work);
  const checks = {
    database: () => database.ready(),
    nats: () => nats.ready(),
    blobs: () => store.ready(),
  };

  let ports: RunningState["ports"];
  if (!parts.embedded) {
    const host = config.HOST;
    const ops = starting.use(
      await startOpsServer({ host, port: config.OPS_PORT, checks, required: ["database"] }),
    );
    const grpc = await rpc.listen({ host, port: config.GRPC_PORT });
    const port = config.OBJECT_PORT;
    const objects = starting.use(
      await startObjectServer({ host, port, handler: objectHandler, logger }),
    );
    ports = { grpc: grpc.port, ops: ops.port, objects: objects.port };
    logger.info(ports, "state listens");
  }
  const running = starting.move();
  return { rpc, objectHandler, checks, ports, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
