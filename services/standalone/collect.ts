import { openDatabase } from "@statehouse/postgres";
import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import {
  type Channel,
  createCallers,
  createIdentity,
  createRpcServer,
  grantsFromAccess,
  implement,
} from "@statehouse/rpc";
import { createLogger, readConfig, runCommand } from "@statehouse/runtime";
import { runCollection } from "@statehouse/state/collection-run";
import { configSchema as stateConfig } from "@statehouse/state/config";
import {
  type WorkspacesConfig,
  configSchema as workspacesConfig,
} from "@statehouse/workspaces/config";
import { createApp as createWorkspaces } from "@statehouse/workspaces/create-app";
import { dataRetentionPolicyService } from "@statehouse/workspaces/rpc/data-retention-policy";
import { entities } from "@statehouse/workspaces/store/entities";
import { migrations } from "@statehouse/workspaces/store/migrations";
import { standaloneSchema } from "./config.ts";
import { lateChannel } from "./late-channel.ts";
import { runningEnvironments } from "./running-environments.ts";

// Deletes what retention lets go of the states of `npm start`, beside it, or, where the settings of a service are given,
// of that one's. With --dry-run it names it only.
if (process.env.DATABASE_URL) await import("@statehouse/state/collect");
else {
  await runCommand("Collecting", async (print) => {
    const { DATA_DIR } = readConfig(standaloneSchema.pick({ DATA_DIR: true }));
    const environments = await runningEnvironments(DATA_DIR, { LOG_LEVEL: "warn", ...process.env });
    await using parts = new AsyncDisposableStack();
    const config = readConfig(workspacesConfig, environments.workspaces);
    const channels = {
      // Collecting asks nothing of it.
      access: lateChannel("access"),
      workspaces: await policiesOf(config, parts),
    };
    await runCollection({ config: readConfig(stateConfig, environments.state), channels, print });
  });
}

/** Answers which policies count, from the database: what runs in the other process listens to nobody. */
async function policiesOf(config: WorkspacesConfig, parts: AsyncDisposableStack): Promise<Channel> {
  const name = "workspaces";
  const logger = createLogger({ service: name, level: config.LOG_LEVEL });
  const { DATABASE_URL: url } = config;
  const database = parts.use(
    await openDatabase({ contextName: name, url, entities, migrations, logger }),
  );
  const identity = await createIdentity(name, config.ASSERTION_PRIVATE_KEY);
  const channels = { access: lateChannel("access"), state: lateChannel("state") };
  const app = createWorkspaces(config, { database, channels, identity });
  const callerOf = createCallers(grantsFromAccess(channels.access, identity));
  const rpc = createRpcServer({
    name,
    keys: config.ASSERTION_PUBLIC_KEYS,
    context: async (principal) => ({ caller: await callerOf(principal) }),
    ready: () => database.ready(),
    logger,
    bindings: [implement(DataRetentionPolicyService, dataRetentionPolicyService(app))],
  });
  return parts.use(rpc).inProcess();
}
