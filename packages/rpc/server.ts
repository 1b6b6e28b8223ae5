import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Principal } from "@statehouse/authorization";
import { AppError, type Refusal, refusalOf, unauthenticated } from "@statehouse/errors";
import {
  type Actor,
  authenticationFailures,
  type Changing,
  type Logger,
  runAs,
  runWithDeadline,
  traceId,
  withServerSpan,
} from "@statehouse/runtime";
import { type AssertionKeys, createVerifier } from "./assertion.ts";
import { callDurations } from "./call-metrics.ts";
import type { CallHandler, CallMetadata, Channel } from "./channel.ts";
import { type GrpcListener, listenGrpc } from "./grpc-server.ts";
import type { GrpcTls } from "./grpc-tls.ts";
import { inProcessChannel } from "./in-process-channel.ts";
import { maxRequestBytes, mayCall, methodPath, type ServiceBinding } from "./service.ts";

export interface RpcServerOptions<Ctx> {
  /** The service's name, which is the audience of accepted assertions. */
  name: string;
  bindings: readonly ServiceBinding<Ctx>[];
  /** The public keys whose assertions are accepted, or a function that returns the current ones if they can change. */
  keys: Changing<AssertionKeys>;
  /** Creates the context of a call from its principal and method, including the principal's grants. */
  context: (principal: Principal, method: DescMethod) => Promise<Ctx>;
  /**
   * Called when a method refuses a caller that is not a service. During this call, the refused caller is the current
   * actor. The function is synchronous, so that a refusal takes no longer than the response for a missing object.
   */
  onRefusal?: (method: DescMethod, error: AppError, refusal: Refusal) => void;
  logger: Logger;
}

export interface RpcServer extends AsyncDisposable {
  /** Opens a gRPC port, with mutual TLS unless `tls` is undefined; port 0 selects a free one. */
  listen(address: {
    host: string;
    port: number;
    tls?: GrpcTls | undefined;
  }): Promise<{ port: number }>;
  /**
   * Returns a channel for callers in this process, with the same messages, metadata, deadlines and errors as over gRPC.
   */
  inProcess(): Channel;
  /** Accepts no more calls, and waits for calls in progress, at most for `shutdownMs`. Disposal does the same. */
  close(shutdownMs: number): Promise<void>;
}

/** How long calls in progress may continue if the server is disposed without `close`, in ms. */
const SHUTDOWN_MS = 10_000;

/**
 * Creates a server that serves the bindings over gRPC, in process, or both. It verifies the assertion and the caller
 * before the method runs.
 */
export function createRpcServer<Ctx>(options: RpcServerOptions<Ctx>): RpcServer {
  const { name, bindings, keys, context, onRefusal, logger } = options;
  const measured = callDurations("server");
  const notAccepted = authenticationFailures("assertion");
  const verify = createVerifier(name, keys);
  const handlers = new Map<string, CallHandler>();
  const methods: DescMethod[] = [];
  const underWay = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  let listener: GrpcListener | undefined;

  const admit = async (
    method: DescMethod,
    { assertion, certificateNames }: CallMetadata,
  ): Promise<Principal> => {
    if (!assertion) {
      notAccepted("missing");
      throw unauthenticated("The call has no assertion.");
    }
    const { principal, issuer } = await verify(assertion).catch((error: unknown) => {
      notAccepted("refused");
      throw error;
    });
    // With TLS, a copied assertion can be used only with the private key of the issuer's certificate.
    if (certificateNames && !certificateNames.includes(issuer)) {
      notAccepted("foreign_certificate");
      throw unauthenticated(`The certificate of the connection does not name ${issuer}.`);
    }
    if (!mayCall(method, principal)) {
      notAccepted("caller_not_allowed");
      throw new AppError(
        "forbidden",
        "caller_not_declared",
        `${principal.type} ${principal.id} is not allowed to call ${methodPath(method)}.`,
      );
    }
    return principal;
  };

  const answer = async (
    method: DescMethod,
    implementation: (request: never, context: Ctx) => Promise<Record<string, unknown> | undefined>,
    metadata: CallMetadata,
    read: () => Message,
  ): Promise<Message> => {
    const principal = await admit(method, metadata);
    const message = read();
    const result = await runAs(actorOf(principal, metadata.clientAddress), async () => {
      try {
        return await implementation(message as never, await context(principal, method));
      } catch (error) {
        const refusal = error instanceof AppError && refusalOf(error);
        if (refusal && principal.type !== "service") onRefusal?.(method, error, refusal);
        throw error;
      }
    });
    return create(method.output, result);
  };

  for (const { desc, methods: implementations } of bindings) {
    for (const method of desc.methods) {
      const implementation = implementations[method.localName];
      if (!implementation) throw new Error(`${methodPath(method)} has no implementation`);
      const path = methodPath(method).slice(1);
      const attributes = { "rpc.system": "grpc", "rpc.method": path };
      methods.push(method);
      const refused = (error: AppError): void =>
        logger.debug({ method: path, reason: error.reason }, "call refused");
      handlers.set(methodPath(method), {
        maxRequestBytes: maxRequestBytes(method),
        async admit(metadata) {
          try {
            await admit(method, metadata);
          } catch (error) {
            if (error instanceof AppError) refused(error);
            throw error;
          }
        },
        handle(metadata, read, write) {
          const run = withServerSpan(path, metadata.traceparent, attributes, () =>
            runWithDeadline(metadata.deadline, () =>
              measured(path, async () => {
                try {
                  const answered = write(await answer(method, implementation, metadata, read));
                  // With this line an operator can match the gateway's log line of a request with the services that the
                  // request passed through.
                  logger.debug({ method: path }, "call");
                  return answered;
                } catch (error) {
                  if (error instanceof AppError) {
                    refused(error);
                    throw error;
                  }
                  logger.error({ err: error, method: path }, "call failed");
                  throw internalError(name);
                }
              }),
            ),
          );
          underWay.add(run);
          const done = () => underWay.delete(run);
          run.then(done, done);
          return run;
        },
      });
    }
  }

  const close = (shutdownMs: number): Promise<void> => {
    closing ??= Promise.all([
      listener?.close(shutdownMs),
      Promise.race([Promise.allSettled(underWay), sleep(shutdownMs, undefined, { ref: false })]),
    ]).then(() => {});
    return closing;
  };

  return {
    async listen(address) {
      listener = await listenGrpc({ ...address, methods, handlers });
      return { port: listener.port };
    },
    inProcess: () =>
      inProcessChannel(name, (method) => (closing ? undefined : handlers.get(methodPath(method)))),
    close,
    [Symbol.asyncDispose]: () => close(SHUTDOWN_MS),
  };
}

/**
 * Returns the actor who causes the work of a call. The actor's address is that of the API client, as the gateway
 * determined it. An address that another service sends is ignored, because only the gateway receives requests from
 * clients. A value that is not an IP address is also ignored.
 */
function actorOf({ type, id, tokenId }: Principal, clientAddress: string | undefined): Actor {
  if (type === "service" && id !== "gateway") return { type, id };
  const address =
    clientAddress !== undefined && isIP(clientAddress) > 0 ? clientAddress : undefined;
  return { type, id, tokenId, address };
}

/**
 * Creates the error that the caller receives. The cause is only in the service's log, under the trace id in the
 * message.
 */
const internalError = (name: string) =>
  new Error(`${name} failed with an internal error, trace ${traceId() ?? "unknown"}`);
