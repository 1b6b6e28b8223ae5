import { setTimeout as sleep } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { CallMetadata, Channel } from "./channel.ts";
import { detailTrailer, errorFromBytes, errorFromStatus } from "./error.ts";
import { assertionKey, maxMessageBytes, traceparentKey } from "./grpc-wire.ts";
import { isIdempotent, methodPath } from "./service.ts";

/** Pauses between the attempts of an idempotent call that nobody answered, in ms. */
const RETRY_PAUSES_MS = [50, 150, 450];

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asBytes = (bytes: Buffer): Uint8Array => bytes;

/**
 * A channel over the network to the service `audience` at `address` (host:port; a name with several
 * addresses is balanced round-robin). Only methods marked idempotent are repeated, and only when nobody
 * answered.
 */
export function grpcChannel({ address, audience }: { address: string; audience: string }): Channel {
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 2000,
    "grpc.keepalive_time_ms": 30_000,
  });

  const attempt = (method: DescMethod, request: Uint8Array, metadata: CallMetadata) =>
    new Promise<Uint8Array>((resolve, reject) => {
      const headers = new Metadata();
      headers.set(assertionKey, metadata.assertion);
      if (metadata.traceparent) headers.set(traceparentKey, metadata.traceparent);
      client.makeUnaryRequest(
        methodPath(method),
        asBuffer,
        asBytes,
        request,
        headers,
        { deadline: metadata.deadline },
        (error, answer) =>
          answer && !error ? resolve(answer) : reject(error ?? new Error("empty answer")),
      );
    });

  return {
    audience,
    async call(method, request, metadata) {
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
