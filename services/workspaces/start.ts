import { connectNats, startConsumer, startRelay } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import {
  type Channel,
  createCallers,
  createIdentity,
  createRpcServer,
  grantsFromAccess,
  grpcChannel,
  type RpcServer,
} from "@statehouse/rpc";
import { type Check, createLogger, type Logger, startOpsServer } from "@statehouse/runtime";
import type { WorkspacesConfig } from "./config.ts";
import { consumptions } from "./consumers/consumptions.ts";
import { createApp } from "./create-app.ts";
import { bindingsOf } from "./rpc/bindings.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";
import { startAutoDestroys } from "./workers/auto-destroy.ts";
import { startReconciliation } from "./workers/reconciliation.ts";

const SERVICE = "workspaces";
const RECONCILIATION_INTERVAL_MS = 30_000;
/** How late a destroy run may be told of. */
const AUTO_DESTROY_INTERVAL_MS = 5000;

/** What a composition gives instead of what the configuration would make. */
export interface WorkspacesParts {
  /** Opens no listeners: the composition calls `rpc.inProcess()` and serves `checks` itself. */
  embedded?: boolean;
  channels?: { access: Channel; state: Channel };
  logger?: Logger;
  /** How often overdue work is looked for, in ms. */
  reconciliationIntervalMs?: number;
  now?: () => Date;
}

export interface RunningWorkspaces extends AsyncDisposable {
  readonly rpc: RpcServer;
  /** Without `database` the service is not ready; the others are only reported. */
  readonly checks: Readonly<Record<"database" | "nats", Check>>;
  /** Undefined when embedded. */
  readonly ports: { grpc: number; ops: number } | undefined;
}

/** Starts the service. Waits neither for its database nor for bus and neighbours: readiness tells. */
export async function start(
  config: WorkspacesConfig,
  parts: WorkspacesParts = {},
): Promise<RunningWorkspaces> {
  const logger = parts.logger ?? createLogger({ service: SERVICE, level: config.LOG_LEVEL });
  await using starting = new AsyncDisposableStack();
  const { DATABASE_URL: url } = config;
  const database = starting.use(
    await openDatabase({ contextName: SERVICE, url, entities, migrations, logger }),
  );
  const nats = starting.use(
    connectNats({
      url: config.NATS_URL,
      name: SERVICE,
      streamReplicas: config.STREAM_REPLICAS,
    }),
  );
  starting.use(startRelay({ database, nats, service: SERVICE, logger }));
  const identity = await createIdentity(SERVICE, config.ASSERTION_PRIVATE_KEY);
  const access =
    parts.channels?.access ??
    starting.use(grpcChannel({ address: config.ACCESS_ADDRESS, audience: "access" }));
  const state =
    parts.channels?.state ??
    starting.use(grpcChannel({ address: config.STATE_ADDRESS, audience: "state" }));

  const channels = { access, state };
  const app = createApp(config, { database, channels, identity, now: parts.now });
  for (const consumption of consumptions(app)) {
    starting.use(startConsumer({ nats, database, service: SERVICE, ...consumption, logger }));
  }
  const intervalMs = parts.reconciliationIntervalMs ?? RECONCILIATION_INTERVAL_MS;
  starting.use(startReconciliation({ app, intervalMs, logger }));
  starting.use(startAutoDestroys({ app, intervalMs: AUTO_DESTROY_INTERVAL_MS, logger }));

  const callerOf = createCallers(grantsFromAccess(access, identity));
  const rpc = starting.use(
    createRpcServer({
      name: SERVICE,
      keys: config.ASSERTION_PUBLIC_KEYS,
      context: async (principal) => ({ caller: await callerOf(principal) }),
      ready: () => database.ready(),
      logger,
      bindings: bindingsOf(app),
    }),
  );
  const checks = { database: () => database.ready(), nats: () => nats.ready() };

  let ports: RunningWorkspaces["ports"];
  if (!parts.embedded) {
    const host = config.HOST;
    const ops = starting.use(
      await startOpsServer({ host, port: config.OPS_PORT, checks, required: ["database"] }),
    );
    const grpc = await rpc.listen({ host, port: config.GRPC_PORT });
    ports = { grpc: grpc.port, ops: ops.port };
    logger.info(ports, "workspaces listens");
  }
  const running = starting.move();
  return { rpc, checks, ports, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
