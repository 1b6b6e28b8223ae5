import type { GrpcTls, RpcServer } from "@statehouse/rpc";
import type { Check, Logger, OpsServer } from "@statehouse/runtime";

/**
 * Handles requests that a service serves in addition to gRPC. `listen` opens a separate port for them; standalone calls
 * `handler` from its own port instead.
 */
export interface Listener<Handler> {
  handler: Handler;
  /** Opens the port. Throws `StartError` if the port cannot be opened. */
  listen(options: PortOptions): Promise<{ readonly port: number } & AsyncDisposable>;
}

export type Listeners = Record<string, Listener<unknown>>;
export type Handlers<L extends Listeners> = { readonly [Name in keyof L]: L[Name]["handler"] };

export type Ports<Name extends string> = Readonly<Record<Name, number>>;

/** How a port is opened and closed. */
export interface PortOptions {
  host: string;
  /** This signal is aborted when the service begins to stop. */
  stopping: AbortSignal;
  /** How long requests in progress may continue after the port is closed, in ms. */
  shutdownMs: number;
}

export interface ServeOptions<Name extends string> extends PortOptions {
  service: string;
  /** The port of health, readiness and metrics. */
  ops: OpsServer;
  checks: Readonly<Record<string, Check>>;
  /** The service is not ready if one of these checks fails. All other checks are only reported. */
  required: readonly string[];
  listeners: Readonly<Record<Name, Listener<unknown>["listen"]>>;
  logger: Logger;
}

/**
 * Opens the listeners, logs all ports, and reports that the service has started. `stack` closes all listeners
 * concurrently.
 */
export async function serve<Name extends string>(
  { service, ops, checks, required, listeners, logger, ...options }: ServeOptions<Name>,
  stack: AsyncDisposableStack,
): Promise<Ports<Name | "ops">> {
  const ports: Record<string, number> = { ops: ops.port };
  const opened: AsyncDisposable[] = [];
  stack.defer(async () => {
    await Promise.all(opened.map((listener) => listener[Symbol.asyncDispose]()));
  });
  for (const [name, listen] of Object.entries<Listener<unknown>["listen"]>(listeners)) {
    const listener = await listen(options);
    opened.push(listener);
    ports[name] = listener.port;
  }
  ops.started({ checks, required, stopping: options.stopping });
  logger.info(ports, `${service} listens`);
  return ports as Ports<Name | "ops">;
}

/** Returns a listener that opens the gRPC port. */
export const listenGrpc =
  (rpc: RpcServer, port: number, tls?: GrpcTls) =>
  async ({ host, shutdownMs }: PortOptions) => ({
    port: (await rpc.listen({ host, port, tls })).port,
    [Symbol.asyncDispose]: () => rpc.close(shutdownMs),
  });

export const listenFunctionsOf = <L extends Listeners>(listeners: L) =>
  Object.fromEntries(
    Object.entries(listeners).map(([name, listener]) => [
      name,
      (options: PortOptions) => listener.listen(options),
    ]),
  );

export const handlersOf = <L extends Listeners>(listeners: L) =>
  Object.fromEntries(
    Object.entries(listeners).map(([name, { handler }]) => [name, handler]),
  ) as Handlers<L>;
