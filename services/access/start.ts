import { connectNats, startConsumer, startRelay } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { PrincipalNameService } from "@statehouse/proto/statehouse/access/v1/principal_name";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamProjectService } from "@statehouse/proto/statehouse/access/v1/team_project";
import { TeamWorkspaceService } from "@statehouse/proto/statehouse/access/v1/team_workspace";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { RunTokenService } from "@statehouse/proto/statehouse/runs/v1/run_token";
import {
  type Channel,
  createIdentity,
  createRpcServer,
  grpcChannel,
  implement,
  type RpcServer,
} from "@statehouse/rpc";
import { type Check, createLogger, type Logger, startOpsServer } from "@statehouse/runtime";
import type { App } from "./app/app.ts";
import type { AccessConfig } from "./config.ts";
import { consumptions } from "./consumers/consumptions.ts";
import { authenticationService } from "./rpc/authentication.ts";
import { contextOf } from "./rpc/context.ts";
import { grantsService } from "./rpc/grants.ts";
import { organizationAccessService } from "./rpc/organization.ts";
import { organizationMembershipService } from "./rpc/organization-membership.ts";
import { principalNameService } from "./rpc/principal-name.ts";
import { runTokenService } from "./rpc/run-token.ts";
import { teamService } from "./rpc/team.ts";
import { teamProjectService } from "./rpc/team-project.ts";
import { teamWorkspaceService } from "./rpc/team-workspace.ts";
import { tokenService } from "./rpc/token.ts";
import { userService } from "./rpc/user.ts";
import { neighbourOver } from "./rpc/workspaces.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";
import { readsOf } from "./store/reads.ts";
import { startTokenUsage } from "./store/token-usage.ts";
import { transactions } from "./store/transaction.ts";

const SERVICE = "access";

/** What a composition gives instead of what the configuration would make. */
export interface AccessParts {
  /** Opens no listeners: the composition calls `rpc.inProcess()` and serves `checks` itself. */
  embedded?: boolean;
  channels?: { workspaces: Channel };
  logger?: Logger;
  /** How late `last-used-at` may be, in ms. */
  tokenUsageIntervalMs?: number;
}

export interface RunningAccess extends AsyncDisposable {
  readonly rpc: RpcServer;
  /** Without `database` the service is not ready; the others are only reported. */
  readonly checks: Readonly<Record<"database" | "nats", Check>>;
  /** Undefined when embedded. */
  readonly ports: { grpc: number; ops: number } | undefined;
}

/** Starts the service. Waits neither for its database nor for the bus: readiness tells. */
export async function start(config: AccessConfig, parts: AccessParts = {}): Promise<RunningAccess> {
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
  const tokenUsage = starting.use(
    startTokenUsage({ database, logger, intervalMs: parts.tokenUsageIntervalMs }),
  );
  const identity = await createIdentity(SERVICE, config.ASSERTION_PRIVATE_KEY);
  const workspaces =
    parts.channels?.workspaces ??
    starting.use(grpcChannel({ address: config.WORKSPACES_ADDRESS, audience: "workspaces" }));

  const app: App = {
    transaction: transactions(database),
    reads: readsOf(database),
    tokenUsage,
    ...neighbourOver(workspaces, identity),
    settings: {
      maxTokenDays: config.TOKEN_MAX_DAYS,
      runTokenLifetimeMs: config.RUN_TOKEN_LIFETIME * 1000,
    },
    now: () => new Date(),
  };
  for (const consumption of consumptions(app)) {
    starting.use(startConsumer({ ...consumption, nats, database, service: SERVICE, logger }));
  }
  const rpc = starting.use(
    createRpcServer({
      name: SERVICE,
      keys: config.ASSERTION_PUBLIC_KEYS,
      context: contextOf(app),
      ready: () => database.ready(),
      logger,
      bindings: [
        implement(AuthenticationService, authenticationService(app)),
        implement(GrantsService, grantsService(app)),
        implement(OrganizationAccessService, organizationAccessService(app)),
        implement(OrganizationMembershipService, organizationMembershipService(app)),
        implement(PrincipalNameService, principalNameService(app)),
        implement(RunTokenService, runTokenService(app)),
        implement(TeamService, teamService(app)),
        implement(TeamProjectService, teamProjectService(app)),
        implement(TeamWorkspaceService, teamWorkspaceService(app)),
        implement(TokenService, tokenService(app)),
        implement(UserService, userService(app)),
      ],
    }),
  );
  const checks = { database: () => database.ready(), nats: () => nats.ready() };

  let ports: RunningAccess["ports"];
  if (!parts.embedded) {
    const host = config.HOST;
    const ops = starting.use(
      await startOpsServer({ host, port: config.OPS_PORT, checks, required: ["database"] }),
    );
    const grpc = await rpc.listen({ host, port: config.GRPC_PORT });
    ports = { grpc: grpc.port, ops: ops.port };
    logger.info(ports, "access listens");
  }
  const running = starting.move();
  return { rpc, checks, ports, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
