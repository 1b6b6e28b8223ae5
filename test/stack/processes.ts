import { type ChildProcess, spawn } from "node:child_process";
import { withFileLimit } from "@statehouse/local-services";
import { grpcChannel, openGrpcTls } from "@statehouse/rpc";
import {
  type Environment,
  type ServiceName,
  serviceNames,
} from "@statehouse/standalone/environments";
import {
  childEnvironment,
  type FollowedProcess,
  followProcess,
  sharedDependencies,
  waitFor,
} from "@statehouse/testing";
import { reservePort } from "./port.ts";
import type { Channels, RunningServices, RunOptions } from "./running-services.ts";
import type { ServiceProcess } from "./service-process.ts";

/** The time limit is long, because many processes can start at the same time on few cores. */
const READY_TIMEOUT_MS = 60_000;

/** Returns a service's process without starting it. */
export function serviceProcess(name: ServiceName, environment: Environment): ServiceProcess {
  let child: ChildProcess | undefined;
  let program: FollowedProcess | undefined;
  let printedBefore = "";
  const output = () => printedBefore + (program?.output() ?? "");
  const end = async (signal: NodeJS.Signals) => {
    child?.kill(signal);
    return program ? await program.exit : null;
  };
  return {
    name,
    environment,
    get running() {
      return program?.running() === true;
    },
    output,
    pid: () => child?.pid ?? 0,
    kill: async () => void (await end("SIGKILL")),
    terminate: () => end("SIGTERM"),
    async start({ largestFile } = {}) {
      const { command, args } = withFileLimit(largestFile, process.execPath, [
        sharedDependencies().program,
        name,
      ]);
      printedBefore = output();
      child = spawn(command, args, {
        env: childEnvironment(environment),
        stdio: ["ignore", "pipe", "pipe"],
      });
      program = followProcess(child);
      await readiness(name, environment, program);
    },
    [Symbol.asyncDispose]: async () => {
      await end("SIGKILL");
    },
  };
}

/** Resolves when the service is ready. If `program` ends before, throws an error with its output. */
export const readiness = (
  name: ServiceName,
  environment: Environment,
  program?: FollowedProcess,
): Promise<boolean> =>
  waitFor(
    async () => {
      const ready = await fetch(`http://127.0.0.1:${environment.OPS_PORT}/readyz`).catch(
        () => undefined,
      );
      return ready?.ok === true;
    },
    { timeout: READY_TIMEOUT_MS, what: `${name} to be ready`, program },
  );

/** Runs the four services as processes on free ports. */
export async function asProcesses(
  options: RunOptions,
): Promise<RunningServices & { processes: Record<ServiceName, ServiceProcess> }> {
  await using starting = new AsyncDisposableStack();
  const grpc = await portsFor(serviceNames);
  const ops = await portsFor(serviceNames);
  const [gatewayPort, objectPort] = [await reservePort(), await reservePort()];
  const url = `http://127.0.0.1:${gatewayPort}`;
  const objectUrl = `http://127.0.0.1:${objectPort}`;
  const environments = options.environments({
    publicUrl: url,
    objectUrl,
    addresses: {
      access: `127.0.0.1:${grpc.access}`,
      workspaces: `127.0.0.1:${grpc.workspaces}`,
      state: `127.0.0.1:${grpc.state}`,
    },
  });
  for (const name of serviceNames) {
    Object.assign(environments[name], {
      HOST: "127.0.0.1",
      PORT: String(gatewayPort),
      OBJECT_PORT: String(objectPort),
      GRPC_PORT: String(grpc[name]),
      OPS_PORT: String(ops[name]),
      ...options.certificates?.settingsOf(name),
    });
  }
  // These tests have no ingress, so upload and download URLs contain the state service's own address.
  environments.state.PUBLIC_URL = objectUrl;
  await options.rewire(environments);
  const processes = Object.fromEntries(
    serviceNames.map((name) => [name, starting.use(options.process(name, environments[name]))]),
  ) as Record<ServiceName, ServiceProcess>;
  await Promise.all(serviceNames.map((name) => processes[name].start()));
  const started = starting.move();
  const opened = new Map<string, Channels>();
  const open = (name: string): Channels => {
    const files = options.certificates?.filesOf(name);
    const tls = files && openGrpcTls(files);
    const channel = (audience: keyof Channels) =>
      started.use(grpcChannel({ address: `127.0.0.1:${grpc[audience]}`, audience, tls }));
    return { access: channel("access"), workspaces: channel("workspaces") };
  };
  return {
    url,
    channelsOf(name) {
      const channels = opened.get(name) ?? open(name);
      opened.set(name, channels);
      return channels;
    },
    environments,
    processes,
    runnerAddress: async () => `127.0.0.1:${grpc.workspaces}`,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const portsFor = async (names: readonly ServiceName[]) =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await reservePort()] as const)),
  ) as Record<ServiceName, number>;
