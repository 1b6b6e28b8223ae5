import { freshDatabase } from "@statehouse/postgres/testing";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { PrincipalNameService } from "@statehouse/proto/statehouse/access/v1/principal_name";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamAccessService } from "@statehouse/proto/statehouse/access/v1/team_access";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { TokenTtlPolicyService } from "@statehouse/proto/statehouse/access/v1/token_ttl_policy";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { RunTokenService } from "@statehouse/proto/statehouse/runs/v1/run_token";
import { type CallOptions, createClient } from "@statehouse/rpc";
import { createLogger, readConfig } from "@statehouse/runtime";
import { newServiceKeys, sharedDependencies } from "@statehouse/testing";
import { configSchema } from "../config.ts";
import { migrations } from "../migrations.ts";
import { service } from "../service.ts";
import { projectPlacements } from "./project-placements.ts";

export type RunningAccess = Awaited<ReturnType<typeof runAccess>>;

/**
 * Starts the access service with its own database. Tests call it through its in-process channel with signed assertions.
 */
export async function runAccess({ tokenUsageIntervalMs = 20, embedded = true } = {}) {
  await using starting = new AsyncDisposableStack();
  const database = starting.use(await freshDatabase({ contextName: "access", migrations }));
  const { publicKeys, identities, settingsOf } = await newServiceKeys(
    "gateway",
    "access",
    "workspaces",
    "state",
    "standalone",
    "testing",
    "runner",
    "runner-eu",
  );
  const logger = createLogger({ service: "access", level: "silent" });
  const placements = starting.use(projectPlacements({ keys: publicKeys, logger }));

  const environment = {
    DATABASE_URL: database.url,
    HOST: "127.0.0.1",
    GRPC_PORT: "0",
    OPS_PORT: "0",
    NATS_URL: sharedDependencies().nats.url,
    ...settingsOf("access"),
  };
  const access = starting.use(
    await service.start(readConfig(configSchema, environment), {
      embedded,
      channels: { workspaces: placements.channel },
      logger,
      tokenUsageIntervalMs,
    }),
  );
  const channel = access.rpc.inProcess();
  const authentication = createClient(AuthenticationService, channel, identities.gateway);
  const users = createClient(UserService, channel, identities.testing);
  const tokens = createClient(TokenService, channel, identities.testing);
  let people = 0;

  const running = starting.move();
  return {
    access,
    /** The environment variables with which a separate process of the service can be started. */
    environment,
    channel,
    identities,
    authentication,
    users,
    tokens,
    tokenTtlPolicies: createClient(TokenTtlPolicyService, channel, identities.testing),
    grants: createClient(GrantsService, channel, identities.workspaces),
    organizations: createClient(OrganizationAccessService, channel, identities.workspaces),
    principalNames: createClient(PrincipalNameService, channel, identities.workspaces),
    teams: createClient(TeamService, channel, identities.testing),
    runTokens: createClient(RunTokenService, channel, identities.runner),
    teamAccess: createClient(TeamAccessService, channel, identities.testing),
    memberships: createClient(OrganizationMembershipService, channel, identities.testing),
    placeProject: placements.place,
    placeWorkspace: placements.placeWorkspace,
    removeAfterCall: placements.removeAfterCall,
    refuseNameOnce: placements.refuseNameOnce,

    /** Direct access to the tables, for values that no method writes or returns. */
    sql: database.query,

    /** Creates a user with a token. */
    async person(username = `person-${++people}`) {
      const { user } = await users.createUser({ username, email: `${username}@example.com` });
      const id = user?.id ?? "";
      const { secret } = await tokens.createUserToken({ userId: id });
      return { id, username, secret };
    },

    /** Returns options for calls as the principal of the token. As in the gateway, each call is authenticated first. */
    as: (secret: string): CallOptions => ({
      async assertion(audience) {
        const { principal } = await authentication.authenticate({ token: secret });
        if (!principal) throw new Error("no principal");
        const { type, id, versions } = principal;
        if (type !== "user" && type !== "team" && type !== "organization") throw new Error(type);
        return identities.gateway.on({ type, id, versions }).assertion(audience);
      },
    }),

    /** Returns the version vector that authentication returns for a request with the token. */
    async versionsOf(secret: string): Promise<string> {
      return (await authentication.authenticate({ token: secret })).principal?.versions ?? "";
    },

    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
