import type { GrpcTls, RpcServer } from "@statehouse/rpc";
import { type Check, type Logger, startOpsServer } from "@statehouse/runtime";

/** Handles requests that a service serves in addition to gRPC, either on a separate port or mounted by standalone. */
export interface Listener<Handler> {
  handler: Handler;
  /** Opens the port. Throws `StartError` if it is in use. */
  listen(host: string): Promise<{ readonly port: number } & AsyncDisposable>;
}

export type Listeners = Record<string, Listener<unknown>>;
export type Handlers<L extends Listeners> = { readonly [Name in keyof L]: L[Name]["handler"] };

export type Ports<Name extends string> = Readonly<Record<Name, number>>;

export interface ServeOptions<Name extends string> {
  service: string;
  host: string;
  /** The port of health, readiness and metrics. */
  opsPort: number;
  checks: Readonly<Record<string, Check>>;
  /** The service is not ready if one of these checks fails. All other checks are only reported. */
  required: readonly string[];
  listeners: Readonly<Record<Name, Listener<unknown>["listen"]>>;
  logger: Logger;
}

/** Opens the operations port and the listeners, and logs their ports. `stack` closes them. */
export async function serve<Name extends string>(
  { service, host, opsPort, checks, required, listeners, logger }: ServeOptions<Name>,
  stack: AsyncDisposableStack,
): Promise<Ports<Name | "ops">> {
  const ops = stack.use(await startOpsServer({ host, port: opsPort, checks, required }));
  const ports: Record<string, number> = { ops: ops.port };
  for (const [name, listen] of Object.entries<Listener<unknown>["listen"]>(listeners)) {
    ports[name] = stack.use(await listen(host)).port;
  }
  logger.info(ports, `${service} listens`);
  return ports as Ports<Name | "ops">;
}

/** Returns a listener that opens the gRPC port. Disposal does nothing, because the owner of `rpc` closes the port. */
export const listenGrpc =
  (rpc: RpcServer, port: number, tls?: GrpcTls) => async (host: string) => ({
    port: (await rpc.listen({ host, port, tls })).port,
    [Symbol.asyncDispose]: async () => {},
  });

export const listenFunctionsOf = <L extends Listeners>(listeners: L) =>
  Object.fromEntries(
    Object.entries(listeners).map(([name, listener]) => [
      name,
      (host: string) => listener.listen(host),
    ]),
  );

export const handlersOf = <L extends Listeners>(listeners: L) =>
  Object.fromEntries(
    Object.entries(listeners).map(([name, { handler }]) => [name, handler]),
  ) as Handlers<L>;
