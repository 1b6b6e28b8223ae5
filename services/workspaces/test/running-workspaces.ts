import { randomBytes } from "node:crypto";
import { configSchema as accessConfig } from "@statehouse/access/config";
import { migrations as accessMigrations } from "@statehouse/access/migrations";
import { service as accessService } from "@statehouse/access/service";
import { freshDatabase } from "@statehouse/postgres/testing";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamAccessService } from "@statehouse/proto/statehouse/access/v1/team_access";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { AdminService } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import { AgentPoolService } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { ReservedTagKeyService } from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import { SshKeyService } from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import { TagService } from "@statehouse/proto/statehouse/workspaces/v1/tag";
import { TagBindingService } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type CallOptions, createClient } from "@statehouse/rpc";
import { createLogger, readConfig } from "@statehouse/runtime";
import { configSchema as stateConfig } from "@statehouse/state/config";
import { migrations as stateMigrations } from "@statehouse/state/migrations";
import { service as stateService } from "@statehouse/state/service";
import { newKeyRing, newServiceKeys, ownNats, temporaryFolder } from "@statehouse/testing";
import { configSchema } from "../config.ts";
import { migrations } from "../migrations.ts";
import { service } from "../service.ts";
import { faultyChannel } from "./faulty-channel.ts";

export type RunningWorkspaces = Awaited<ReturnType<typeof runWorkspaces>>;

export interface Person extends CallOptions {
  id: string;
  username: string;
}

/**
 * Starts the workspaces service and the real access and state services, each with its own database. A test can lose and
 * delay calls between them.
 */
export async function runWorkspaces({
  reconciliationIntervalMs = 30_000,
  now = () => new Date(),
  log,
}: {
  reconciliationIntervalMs?: number;
  /** The clock of the workspaces service. */
  now?: () => Date;
  /** Called with each log line of the services whose level is warn or higher. */
  log?: (line: string) => void;
} = {}) {
  await using starting = new AsyncDisposableStack();
  const fresh = async (contextName: string, own: typeof migrations) =>
    starting.use(await freshDatabase({ contextName, migrations: own }));
  const databases = {
    access: await fresh("access", accessMigrations),
    state: await fresh("state", stateMigrations),
    workspaces: await fresh("workspaces", migrations),
  };
  const nats = starting.use(await ownNats());
  const folder = starting.use(await temporaryFolder());
  const { identities, settingsOf } = await newServiceKeys(
    "gateway",
    "access",
    "workspaces",
    "state",
    "testing",
    "runner",
  );
  const environmentOf = (name: keyof typeof databases) => ({
    DATABASE_URL: databases[name].url,
    NATS_URL: nats.url,
    ...settingsOf(name),
    // Nothing listens on port 1: no test of this service transfers state bytes.
    PUBLIC_URL: "http://127.0.0.1:1",
    UPLOAD_TOKEN_KEYS: newKeyRing(),
    SEALING_KEYS: newKeyRing(),
    BLOB_DIRECTORY: folder.path,
    ENGINE_VERSIONS: "1.11.3,1.10.5,1.12.0-beta1",
  });
  const logger = createLogger({
    service: "test",
    level: log ? "warn" : (process.env.STATEHOUSE_TEST_LOG ?? "silent"),
    ...(log ? { destination: { write: log } } : {}),
  });
  const toAccess = faultyChannel("access");
  const toState = faultyChannel("state");
  const toWorkspaces = faultyChannel("workspaces");
  const embedded = true;

  const access = starting.use(
    await accessService.start(readConfig(accessConfig, environmentOf("access")), {
      embedded,
      logger,
      channels: { workspaces: toWorkspaces },
    }),
  );
  toAccess.connect(access.rpc.inProcess());
  const state = starting.use(
    await stateService.start(readConfig(stateConfig, environmentOf("state")), {
      embedded,
      logger,
      channels: { access: toAccess, workspaces: toWorkspaces },
    }),
  );
  toState.connect(state.rpc.inProcess());
  const workspaces = starting.use(
    await service.start(readConfig(configSchema, environmentOf("workspaces")), {
      embedded,
      logger,
      reconciliationIntervalMs,
      now,
      channels: { access: toAccess, state: toState },
    }),
  );
  toWorkspaces.connect(workspaces.rpc.inProcess());

  const channel = workspaces.rpc.inProcess();
  const users = createClient(UserService, toAccess, identities.testing);
  const userTokens = createClient(TokenService, toAccess, identities.testing);
  const authentication = createClient(AuthenticationService, toAccess, identities.gateway);
  const organizations = createClient(OrganizationService, channel);
  let count = 0;
  const running = starting.move();

  return {
    workspaces,
    channel,
    toAccess,
    toState,
    nats,
    identities,
    organizations,
    admin: createClient(AdminService, channel),
    agentPools: createClient(AgentPoolService, channel),
    provision: createClient(OrganizationAccessService, toAccess, identities.workspaces)
      .provisionOrganization,
    projects: createClient(ProjectService, channel),
    service: createClient(WorkspaceService, channel),
    locks: createClient(WorkspaceLockService, channel),
    reservedTagKeys: createClient(ReservedTagKeyService, channel),
    sshKeys: createClient(SshKeyService, channel),
    retention: createClient(DataRetentionPolicyService, channel),
    tags: createClient(TagService, channel),
    tagBindings: createClient(TagBindingService, channel),
    teams: createClient(TeamService, toAccess, identities.testing),
    teamAccess: createClient(TeamAccessService, toAccess, identities.testing),

    /** Direct access to the tables, for values that no method writes or returns. */
    sql: databases.workspaces.query,
    url: databases.workspaces.url,
    stateSql: databases.state.query,
    accessSql: databases.access.query,

    /** Returns a unique name that begins with `noun`. */
    unique: (noun: string) => `${noun}-${++count}-${randomBytes(3).toString("hex")}`,

    /** Creates a user. Each of the user's calls is authenticated first, as in the gateway. */
    async person({ administrator = false } = {}): Promise<Person> {
      const username = `person-${++count}`;
      const email = `${username}@example.com`;
      const { user } = await users.createUser({ username, email, administrator });
      const id = user?.id ?? "";
      const { secret } = await userTokens.createUserToken({ userId: id, description: "test" });
      return {
        id,
        username,
        async assertion(audience) {
          const { principal } = await authentication.authenticate({ token: secret });
          const { versions = "", tokenId } = principal ?? {};
          return identities.gateway.on({ type: "user", id, versions, tokenId }).assertion(audience);
        },
      };
    },

    /** Creates an organization that `owner` owns. */
    async organization(owner: Person) {
      const name = `organization-${++count}`;
      const { organization } = await organizations.createOrganization(
        { name, email: "owner@example.com" },
        owner,
      );
      if (!organization) throw new Error("no organization was made");
      return organization;
    },

    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
