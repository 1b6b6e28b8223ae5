import { type ChildProcess, spawn } from "node:child_process";
import { withFileLimit } from "@statehouse/local-services";
import { grpcChannel, openGrpcTls } from "@statehouse/rpc";
import {
  type Environment,
  type ServiceName,
  serviceNames,
} from "@statehouse/standalone/environments";
import { childEnvironment, waitFor } from "@statehouse/testing";
import { reservePort } from "./port.ts";
import { serviceProgram } from "./program.ts";
import type { Channels, RunningServices, RunOptions } from "./running-services.ts";
import type { ServiceProcess } from "./service-process.ts";

/** The time limit is long, because many processes can start at the same time on few cores. */
const READY_TIMEOUT_MS = 60_000;

/** Returns a service's process that is not started yet. */
export function serviceProcess(name: ServiceName, environment: Environment): ServiceProcess {
  let child: ChildProcess | undefined;
  let printed = "";
  const gone = (process: ChildProcess) =>
    new Promise<number | null>((resolve) => {
      if (process.exitCode !== null || process.signalCode !== null) resolve(process.exitCode);
      else process.once("exit", (code) => resolve(code));
    });
  const end = async (signal: NodeJS.Signals) => {
    if (!child) return null;
    const code = gone(child);
    child.kill(signal);
    return code;
  };
  const isRunning = () =>
    child !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    name,
    environment,
    get running() {
      return isRunning();
    },
    output: () => printed,
    pid: () => child?.pid ?? 0,
    kill: async () => void (await end("SIGKILL")),
    terminate: () => end("SIGTERM"),
    async start({ largestFile } = {}) {
      const program = [await serviceProgram(), name];
      const { command, args } = withFileLimit(largestFile, process.execPath, program);
      child = spawn(command, args, {
        env: childEnvironment(environment),
        stdio: ["ignore", "pipe", "pipe"],
      });
      const keep = (chunk: Buffer) => {
        printed += chunk;
      };
      child.stdout?.on("data", keep);
      child.stderr?.on("data", keep);
      await Promise.race([
        readiness(name, environment),
        gone(child).then(() => {
          throw new Error(`${name} exited at its start:\n${printed}`);
        }),
      ]);
    },
    [Symbol.asyncDispose]: async () => {
      await end("SIGKILL");
    },
  };
}

/** Resolves when the service is ready. */
export const readiness = (name: ServiceName, environment: Environment): Promise<boolean> =>
  waitFor(
    async () => {
      const ready = await fetch(`http://127.0.0.1:${environment.OPS_PORT}/readyz`).catch(
        () => undefined,
      );
      return ready?.ok === true;
    },
    { timeout: READY_TIMEOUT_MS, what: `${name} to be ready` },
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
  // These tests have no ingress, so the state service publishes its own address.
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
