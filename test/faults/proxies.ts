import type { TlsFiles } from "@statehouse/rpc";
import type { Environment, ServiceName } from "@statehouse/standalone/environments";
import { type FaultProxy, type ProxyTls, startFaultProxy } from "@statehouse/testing";

/**
 * For each proxy, the service whose connection it breaks, and the setting that contains the address of the other side.
 */
const ends = {
  accessToDatabase: ["access", "DATABASE_URL"],
  gatewayToState: ["gateway", "STATE_ADDRESS"],
  gatewayToObjects: ["gateway", "STATE_OBJECT_URL"],
  workspacesToAccess: ["workspaces", "ACCESS_ADDRESS"],
  workspacesToState: ["workspaces", "STATE_ADDRESS"],
  workspacesToDatabase: ["workspaces", "DATABASE_URL"],
  workspacesToNats: ["workspaces", "NATS_URL"],
  stateToAccess: ["state", "ACCESS_ADDRESS"],
  stateToWorkspaces: ["state", "WORKSPACES_ADDRESS"],
  stateToDatabase: ["state", "DATABASE_URL"],
  stateToNats: ["state", "NATS_URL"],
  stateToStore: ["state", "S3_ENDPOINT"],
} as const satisfies Record<string, readonly [ServiceName, string]>;

/** The service that listens at each gRPC address, keyed by the setting that contains the address. */
const servers: Readonly<Record<string, ServiceName>> = {
  ACCESS_ADDRESS: "access",
  WORKSPACES_ADDRESS: "workspaces",
  STATE_ADDRESS: "state",
};

/** The proxies, by the connections that they can break. */
export type Proxies = Record<keyof typeof ends, FaultProxy>;

export interface StartedProxies extends AsyncDisposable {
  proxies: Proxies;
}

/**
 * Starts the proxies. Must be called before the services start. A state service that stores bytes in a folder does not
 * use the proxy `stateToStore`.
 */
export async function startProxies(
  environments: Record<ServiceName, Environment>,
): Promise<StartedProxies> {
  await using starting = new AsyncDisposableStack();
  const proxies: Record<string, FaultProxy> = {};
  for (const [name, [service, variable]] of Object.entries(ends)) {
    const environment = environments[service];
    const address = environment[variable] ?? "127.0.0.1:1";
    const port = /127\.0\.0\.1:(\d+)/.exec(address)?.[1];
    const serverName = servers[variable];
    const tls: ProxyTls | undefined =
      serverName && environment.GRPC_TLS === "on"
        ? {
            serverName,
            server: filesOf(environments[serverName]),
            client: filesOf(environment),
          }
        : undefined;
    const proxy = starting.use(await startFaultProxy(Number(port), tls));
    if (variable in environment) {
      environment[variable] = address.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${proxy.port}`);
    }
    proxies[name] = proxy;
  }
  const started = starting.move();
  return { proxies: proxies as Proxies, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** The files with which a service with mutual TLS identifies itself and verifies other services. */
const filesOf = ({ GRPC_CA_FILE, GRPC_CERT_FILE, GRPC_KEY_FILE }: Environment): TlsFiles => ({
  caFile: GRPC_CA_FILE ?? "",
  certFile: GRPC_CERT_FILE ?? "",
  keyFile: GRPC_KEY_FILE ?? "",
});
