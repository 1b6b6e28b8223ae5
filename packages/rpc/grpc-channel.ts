import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { CallMetadata, Channel } from "./channel.ts";
import { detailTrailer, errorFromBytes, errorFromStatus } from "./error.ts";
import {
  assertionKey,
  gatherPieces,
  inPiecesPath,
  inPiecesTrailer,
  isLarge,
  maxMessageBytes,
  sendInPieces,
  traceparentKey,
} from "./grpc-wire.ts";
import { isIdempotent, methodPath } from "./service.ts";

/** How long a channel may wait before it dials a service again that was away. */
const MAX_RECONNECT_PAUSE_MS = 500;
/** How long any call may wait for a connection, in ms: longer than that pause, so that a service which is back is found. */
const CONNECT_MS = 1500;
/** Pauses between the attempts of an idempotent call that nobody answered, in ms. */
const RETRY_PAUSES_MS = [50, 150, 400];

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asBytes = (bytes: Buffer): Uint8Array => bytes;

/**
 * A channel over the network to the service `audience` at `address` (host:port; a name with several
 * addresses is balanced round-robin). Any call waits a moment for a connection, for nothing has been sent yet;
 * only methods marked idempotent are repeated, and only when nobody answered.
 */
export function grpcChannel({ address, audience }: { address: string; audience: string }): Channel {
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": MAX_RECONNECT_PAUSE_MS,
    "grpc.keepalive_time_ms": 30_000,
  });

  /** Resolves at once where there is a connection, and in the end without one: the call then says what is wrong. */
  const connected = (deadline: number) =>
    new Promise<void>((resolve) => {
      if (client.getChannel().getConnectivityState(true) === connectivityState.READY) resolve();
      else client.waitForReady(Math.min(deadline, Date.now() + CONNECT_MS), () => resolve());
    });

  const unary = (path: string, request: Uint8Array, metadata: CallMetadata) =>
    new Promise<Uint8Array>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        asBuffer,
        asBytes,
        request,
        headersOf(metadata),
        { deadline: metadata.deadline },
        (error, answer) =>
          answer && !error ? resolve(answer) : reject(error ?? new Error("empty answer")),
      );
    });

  const inPieces = (path: string, request: Uint8Array, metadata: CallMetadata) => {
    const options = { deadline: metadata.deadline };
    const headers = headersOf(metadata);
    const call = client.makeBidiStreamRequest(
      inPiecesPath(path),
      asBuffer,
      asBytes,
      headers,
      options,
    );
    const stream = call as unknown as Duplex;
    sendInPieces(request, stream);
    return gatherPieces(stream).finally(() => call.cancel());
  };

  /** Most calls are one message each way. An answer that is not is asked for again, if that may be done. */
  const attempt = async (method: DescMethod, request: Uint8Array, metadata: CallMetadata) => {
    const path = methodPath(method);
    if (isLarge(request)) return inPieces(path, request, metadata);
    try {
      return await unary(path, request, metadata);
    } catch (error) {
      const large = (error as ServiceError).metadata?.get(inPiecesTrailer).length > 0;
      if (!large || !isIdempotent(method)) throw error;
      return inPieces(path, request, metadata);
    }
  };

  return {
    audience,
    async call(method, request, metadata) {
      await connected(metadata.deadline);
      for (const pause of [...RETRY_PAUSES_MS, undefined]) {
        try {
          return await attempt(method, request, metadata);
        } catch (error) {
          const failure = error as ServiceError;
          const [detail] = failure.metadata?.get(detailTrailer) ?? [];
          const thrown = Buffer.isBuffer(detail) ? errorFromBytes(detail) : undefined;
          if (thrown) throw thrown;
          const again =
            pause !== undefined && failure.code === status.UNAVAILABLE && isIdempotent(method);
          if (!again || Date.now() + pause >= metadata.deadline) {
            throw errorFromStatus(failure.code, failure.details, audience);
          }
          await sleep(pause);
        }
      }
      throw new Error("unreachable");
    },
    [Symbol.asyncDispose]: async () => client.close(),
  };
}

function headersOf({ assertion, traceparent }: CallMetadata): Metadata {
  const headers = new Metadata();
  headers.set(assertionKey, assertion);
  if (traceparent) headers.set(traceparentKey, traceparent);
  return headers;
}
