import { type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  logVerbosity,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerUnaryCall,
  type StatusObject,
  type sendUnaryData,
  setLogVerbosity,
  status,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import { AppError } from "@statehouse/errors";
import { StartError } from "@statehouse/runtime";
import type { CallHandler, CallMetadata } from "./channel.ts";
import { codeOf, detailTrailer, errorToBytes } from "./error.ts";
import { type GrpcTls, namesOf } from "./grpc-tls.ts";
import {
  asBuffer,
  assertionKey,
  clientAddressKey,
  maxMessageBytes,
  traceparentKey,
} from "./grpc-wire.ts";
import { methodPath } from "./service.ts";

export interface GrpcListener {
  port: number;
  /** Closes the port and waits for calls in progress, at most for `drainMs`. */
  close(drainMs: number): Promise<void>;
}

interface GrpcListenerOptions {
  host: string;
  port: number;
  methods: readonly DescMethod[];
  handlers: ReadonlyMap<string, CallHandler>;
  tls?: GrpcTls | undefined;
}

/** Time limit for callers without a deadline, in ms. */
const DEFAULT_DEADLINE_MS = 60_000;

/** Returns a method definition that passes bytes unchanged: only the handler decodes messages. */
const definitionOf = (path: string): MethodDefinition<Uint8Array, Uint8Array> => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: asBuffer,
  requestDeserialize: (bytes) => bytes,
  responseSerialize: asBuffer,
  responseDeserialize: (bytes) => bytes,
});

/** Opens a gRPC port for the methods. Throws StartError if the port is in use. */
export async function listenGrpc(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { host, port, methods, handlers, tls } = options;
  // Without this setting, grpc-js would write startup failures to the console. They are also thrown as errors.
  if (!process.env.GRPC_VERBOSITY) setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    // Connections are closed after this age, so that clients that balance over several addresses find new replicas.
    "grpc.max_connection_age_ms": 300_000,
    "grpc.max_connection_age_grace_ms": 30_000,
    interceptors: [admission(handlers, tls !== undefined)],
  });
  for (const service of new Set(methods.map((method) => method.parent))) {
    const own = methods.filter((method) => method.parent === service);
    const byName = <T>(make: (method: DescMethod) => T) =>
      Object.fromEntries(own.map((method) => [method.localName, make(method)]));
    server.addService(
      byName((method) => definitionOf(methodPath(method))),
      byName((method): UntypedHandleCall => {
        const handler = handlers.get(methodPath(method));
        return unary(method, handler, tls !== undefined);
      }),
    );
  }
  const bound = await new Promise<number>((resolve, reject) => {
    const credentials = tls?.server ?? ServerCredentials.createInsecure();
    server.bindAsync(`${host}:${port}`, credentials, (error, boundPort) =>
      error
        ? reject(new StartError(`Cannot listen for gRPC on ${host}:${port}: ${error.message}`))
        : resolve(boundPort),
    );
  });
  return {
    port: bound,
    close: (drainMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.forceShutdown(), drainMs);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

/**
 * Verifies the caller before the message is read: until then the stream is paused, and flow control keeps the caller
 * from sending all of the message. Ends calls whose message has not arrived within the default deadline, even if they
 * specify a later deadline.
 */
const admission =
  (handlers: ReadonlyMap<string, CallHandler>, encrypted: boolean): ServerInterceptor =>
  ({ path }, call) => {
    const handler = handlers.get(path);
    if (!handler) return new ServerInterceptingCall(call);
    limitRequest(call, handler.maxRequestBytes);
    const late = setTimeout(
      () => call.sendStatus({ code: status.DEADLINE_EXCEEDED, details: "Deadline exceeded" }),
      DEFAULT_DEADLINE_MS,
    ).unref();
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, admitted) {
            if (encrypted) {
              // The certificate is read once for each call, because Node parses it at every access. A caller without a
              // certificate has no names, so its assertion is refused, whichever service issued it.
              const certificate = call.getAuthContext().sslPeerCertificate;
              namesOfCaller.set(metadata, namesOf(certificate?.subjectaltname));
            }
            handler.admit(metadataOf(metadata, call, encrypted)).then(
              () => admitted(metadata),
              (error: unknown) => {
                clearTimeout(late);
                call.sendStatus(toResponse(error));
              },
            );
          },
          onReceiveMessage(message, received) {
            clearTimeout(late);
            received(message);
          },
          onCancel: () => clearTimeout(late),
        }),
    });
  };

/**
 * Sets the maximum message size of one call. grpc-js has only one limit for all methods of a server. It copies this
 * limit into each call, where this function replaces it before the message is read.
 */
function limitRequest(call: ServerInterceptingCallInterface, bytes: number): void {
  const decoder: unknown = Reflect.get(call, "decoder");
  if (!(decoder instanceof Object && "maxReadMessageLength" in decoder)) {
    throw new Error("This version of grpc-js has no limit for the messages of one call.");
  }
  Reflect.set(decoder, "maxReadMessageLength", bytes);
  Reflect.set(call, "maxReceiveMessageSize", bytes);
}

const unary =
  (method: DescMethod, handler: CallHandler | undefined, encrypted: boolean) =>
  (call: ServerUnaryCall<Uint8Array, Uint8Array>, callback: sendUnaryData<Uint8Array>): void => {
    if (!handler) {
      callback({ code: status.UNIMPLEMENTED });
      return;
    }
    handler
      .handle(
        metadataOf(call.metadata, call, encrypted),
        () => fromBinary(method.input, call.request),
        (answer) => toBinary(method.output, answer),
      )
      .then(
        (answer) => callback(null, answer),
        (error: unknown) => callback(toResponse(error)),
      );
  };

/** The names in the caller's certificate, by the metadata of the call. */
const namesOfCaller = new WeakMap<Metadata, readonly string[]>();

function metadataOf(
  metadata: Metadata,
  call: Pick<ServerUnaryCall<Uint8Array, Uint8Array>, "getDeadline">,
  encrypted: boolean,
): CallMetadata {
  const deadline = Number(call.getDeadline());
  return {
    assertion: textOf(metadata, assertionKey),
    traceparent: textOf(metadata, traceparentKey) || undefined,
    clientAddress: textOf(metadata, clientAddressKey) || undefined,
    deadline: Number.isFinite(deadline) ? deadline : Date.now() + DEFAULT_DEADLINE_MS,
    ...(encrypted && { certificateNames: namesOfCaller.get(metadata) ?? [] }),
  };
}

const textOf = (metadata: Metadata, key: string): string => String(metadata.get(key)[0] ?? "");

type Refusal = Pick<StatusObject, "code" | "details"> & { metadata?: Metadata };

function toResponse(error: unknown): Refusal {
  if (!(error instanceof AppError)) {
    return { code: status.INTERNAL, details: error instanceof Error ? error.message : "" };
  }
  const metadata = new Metadata();
  metadata.set(detailTrailer, Buffer.from(errorToBytes(error)));
  // The error's message is sent in the encoded AppError, because gRPC's text headers would lose non-ASCII characters.
  return { code: codeOf(error), details: error.reason, metadata };
}
