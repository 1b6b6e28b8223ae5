import { service as accessService } from "@statehouse/access/service";
import type { LocalBus } from "@statehouse/events";
import { service as gatewayService } from "@statehouse/gateway/service";
import type { Channel, RpcServer } from "@statehouse/rpc";
import {
  type Check,
  type HttpHandler,
  type Logger,
  type OpsOptions,
  readConfig,
} from "@statehouse/runtime";
import { service as stateService } from "@statehouse/state/service";
import { service as workspacesService } from "@statehouse/workspaces/service";
import type { z } from "zod";
import { deferredChannel } from "./deferred-channel.ts";
import type { Environment, ServiceName } from "./environments.ts";

type ListenAddress = Parameters<RpcServer["listen"]>[0];

/** Four services in one process, behind one request handler. */
export interface Composition extends AsyncDisposable {
  /** Routes `/v1/object/*` to the state service and everything else to the gateway. */
  handler: HttpHandler;
  /** The checks that the operations port serves. */
  operations: Pick<OpsOptions, "checks" | "required">;
  /** Channel to the access service, for methods that services may call. */
  access: Channel;
  /** Channel to the workspaces service, for methods that services may call. */
  workspaces: Channel;
  /** Opens a gRPC port of the workspaces service, for the reports of runners. */
  listenForRunners(address: ListenAddress): Promise<{ port: number }>;
}

interface Startable<Schema extends z.ZodObject, Running> {
  name: ServiceName;
  config: Schema;
  start(
    config: z.output<Schema>,
    dependencies: {
      channels: Record<"access" | "workspaces" | "state", Channel>;
      embedded: boolean;
      bus?: LocalBus;
      logger: Logger;
    },
  ): Promise<Running>;
}

/**
 * Starts the access, workspaces and state services and the gateway, connected by in-process channels. Each service
 * reads its settings from its own environment. Events are sent through `bus` if it is given, otherwise through NATS.
 * Throws `ConfigError`.
 */
export async function compose(
  environments: Record<ServiceName, Environment>,
  logger: Logger,
  bus?: LocalBus,
): Promise<Composition> {
  await using starting = new AsyncDisposableStack();
  const access = deferredChannel("access");
  const workspaces = deferredChannel("workspaces");
  const state = deferredChannel("state");
  const start = async <Schema extends z.ZodObject, Running extends AsyncDisposable>(
    service: Startable<Schema, Running>,
  ) => {
    const config = readConfig(service.config, environments[service.name]);
    const channels = { access, workspaces, state };
    const child = logger.child({ service: service.name });
    const dependencies = { channels, embedded: true, logger: child, ...(bus && { bus }) };
    return starting.use(await service.start(config, dependencies));
  };
  const runningAccess = await start(accessService);
  access.connect(runningAccess.rpc.inProcess());
  const runningWorkspaces = await start(workspacesService);
  workspaces.connect(runningWorkspaces.rpc.inProcess());
  const runningState = await start(stateService);
  state.connect(runningState.rpc.inProcess());
  const gateway = await start(gatewayService);
  bus?.open();
  const operations: Composition["operations"] = {
    checks: {
      ...named("access", runningAccess.checks),
      ...named("workspaces", runningWorkspaces.checks),
      ...named("state", runningState.checks),
    },
    required: ["access.database", "workspaces.database", "state.database"],
  };
  const started = starting.move();
  return {
    access,
    workspaces,
    listenForRunners: (address) => runningWorkspaces.rpc.listen(address),
    operations,
    handler: (request, response, awaitsContinue) => {
      const path = request.url ?? "";
      if (path.startsWith("/v1/object/")) {
        runningState.handlers.objects(request, response, awaitsContinue);
        return;
      }
      if (awaitsContinue) response.writeContinue();
      gateway.handler(request, response);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const named = (service: string, checks: Readonly<Record<string, Check>>) =>
  Object.fromEntries(Object.entries(checks).map(([name, check]) => [`${service}.${name}`, check]));
