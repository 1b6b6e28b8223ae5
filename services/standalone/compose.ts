import { configSchema as accessConfig } from "@statehouse/access/config";
import { start as startAccess } from "@statehouse/access/start";
import { configSchema as gatewayConfig } from "@statehouse/gateway/config";
import { start as startGateway } from "@statehouse/gateway/start";
import type { Channel } from "@statehouse/rpc";
import { type Check, createOpsHandler, type Logger, readConfig } from "@statehouse/runtime";
import { configSchema as stateConfig } from "@statehouse/state/config";
import { start as startState } from "@statehouse/state/start";
import { configSchema as workspacesConfig } from "@statehouse/workspaces/config";
import { start as startWorkspaces } from "@statehouse/workspaces/start";
import type { Environment, ServiceName } from "./environments.ts";
import { lateChannel } from "./late-channel.ts";
import type { Handler } from "./listener.ts";

/** Four services in this process, behind one request handler. */
export interface Composition extends AsyncDisposable {
  /** Sends `/v1/object/*` to state, /healthz and its like to operations, everything else to the gateway. */
  handler: Handler;
  /** To access and workspaces, for what only named services may do. */
  access: Channel;
  workspaces: Channel;
}

/**
 * Starts access, workspaces, state and the gateway over in-process channels. Each reads its own settings from its
 * environment. Throws ConfigError.
 */
export async function compose(
  environments: Record<ServiceName, Environment>,
  logger: Logger,
): Promise<Composition> {
  await using starting = new AsyncDisposableStack();
  const access = lateChannel("access");
  const workspaces = lateChannel("workspaces");
  const state = lateChannel("state");
  const parts = (service: ServiceName) => ({
    channels: { access, workspaces, state },
    embedded: true as const,
    logger: logger.child({ service }),
  });
  const runningAccess = starting.use(
    await startAccess(readConfig(accessConfig, environments.access), parts("access")),
  );
  access.connect(runningAccess.rpc.inProcess());
  const runningWorkspaces = starting.use(
    await startWorkspaces(
      readConfig(workspacesConfig, environments.workspaces),
      parts("workspaces"),
    ),
  );
  workspaces.connect(runningWorkspaces.rpc.inProcess());
  const runningState = starting.use(
    await startState(readConfig(stateConfig, environments.state), parts("state")),
  );
  state.connect(runningState.rpc.inProcess());
  const gateway = starting.use(
    await startGateway(readConfig(gatewayConfig, environments.gateway), parts("gateway")),
  );
  const operations = createOpsHandler({
    checks: {
      ...named("access", runningAccess.checks),
      ...named("workspaces", runningWorkspaces.checks),
      ...named("state", runningState.checks),
    },
    required: ["access.database", "workspaces.database", "state.database"],
  });
  const started = starting.move();
  return {
    access,
    workspaces,
    handler: (request, response, awaitsContinue) => {
      const path = request.url ?? "";
      if (path.startsWith("/v1/object/")) {
        runningState.objectHandler(request, response, awaitsContinue);
        return;
      }
      if (awaitsContinue) response.writeContinue();
      if (!operationsPaths.has(path.split("?", 1)[0] ?? "")) gateway.handler(request, response);
      else void operations(request, response);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const operationsPaths = new Set(["/healthz", "/readyz", "/metrics"]);

const named = (service: string, checks: Readonly<Record<string, Check>>) =>
  Object.fromEntries(Object.entries(checks).map(([name, check]) => [`${service}.${name}`, check]));
