import type { Environment, ServiceName } from "@statehouse/standalone/environments";
import { startWire, type Wire } from "@statehouse/testing";

/** Which setting of which service contains the other end. */
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

/** A proxy on every connection on which a call or its response can be lost. */
export type Wires = Record<keyof typeof ends, Wire>;

export interface Wiring extends AsyncDisposable {
  wires: Wires;
}

/** Starts them between the services, before these start. State in a directory has no proxy to its store. */
export async function layWires(environments: Record<ServiceName, Environment>): Promise<Wiring> {
  await using starting = new AsyncDisposableStack();
  const wires: Record<string, Wire> = {};
  for (const [name, [service, variable]] of Object.entries(ends)) {
    const environment = environments[service];
    const address = environment[variable] ?? "127.0.0.1:1";
    const port = /127\.0\.0\.1:(\d+)/.exec(address)?.[1];
    const wire = starting.use(await startWire(Number(port)));
    if (variable in environment) {
      environment[variable] = address.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${wire.port}`);
    }
    wires[name] = wire;
  }
  const started = starting.move();
  return { wires: wires as Wires, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
