import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { type Channel, createRpcServer, implement } from "@statehouse/rpc";
import { createLogger, isSet, readConfig } from "@statehouse/runtime";
import { standaloneSchema } from "@statehouse/standalone/config";
import { deferredChannel } from "@statehouse/standalone/deferred-channel";
import { runningEnvironments } from "@statehouse/standalone/running-environments";
import { configSchema as stateConfig } from "@statehouse/state/config";
import { collect } from "@statehouse/state/retention/command";
import { dataRetentionPolicyService } from "@statehouse/workspaces/data-retention-policy/rpc";
import { service as workspaces } from "@statehouse/workspaces/service";

/**
 * Applies retention policies in the state service that the environment configures or, without DATABASE_URL, in the
 * running `npm start`.
 */
export async function runCollect(
  args: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  if (isSet("DATABASE_URL")) {
    await collect({ args, config: readConfig(stateConfig), print });
    return;
  }
  const { DATA_DIR } = readConfig(standaloneSchema.pick({ DATA_DIR: true }));
  const environments = await runningEnvironments(DATA_DIR, { LOG_LEVEL: "warn", ...process.env });
  await using stack = new AsyncDisposableStack();
  const channels = {
    // The collection does not call the access service.
    access: deferredChannel("access"),
    workspaces: await retentionPolicies(environments.workspaces, stack),
  };
  await collect({ args, config: readConfig(stateConfig, environments.state), channels, print });
}

/**
 * Returns a channel to a server in this process, which reads retention policies from the workspaces service's database.
 * The command cannot call the workspaces service itself, because the services of a running `npm start` open no ports.
 */
async function retentionPolicies(
  environment: Record<string, string>,
  stack: AsyncDisposableStack,
): Promise<Channel> {
  const config = readConfig(workspaces.config, environment);
  const channels = { access: deferredChannel("access"), state: deferredChannel("state") };
  const logger = createLogger({ service: workspaces.name, level: config.LOG_LEVEL });
  const opened = stack.use(await workspaces.openApp(config, { channels, logger }));
  const { app, callerOf } = opened;
  const rpc = createRpcServer({
    name: workspaces.name,
    keys: config.ASSERTION_PUBLIC_KEYS,
    context: async (principal) => ({ caller: await callerOf(principal) }),
    logger,
    bindings: [implement(DataRetentionPolicyService, dataRetentionPolicyService(app))],
  });
  return stack.use(rpc).inProcess();
}
