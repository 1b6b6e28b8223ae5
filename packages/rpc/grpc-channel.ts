import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { AppError } from "@statehouse/errors";
import { withRetry } from "@statehouse/runtime";
import { callDurations } from "./call-metrics.ts";
import type { CallMetadata, Channel } from "./channel.ts";
import { detailTrailer, errorFromBytes, errorFromStatus } from "./error.ts";
import type { GrpcTls } from "./grpc-tls.ts";
import {
  asBuffer,
  assertionKey,
  clientAddressKey,
  maxMessageBytes,
  traceparentKey,
} from "./grpc-wire.ts";
import { isIdempotent, methodPath } from "./service.ts";

/** The longest pause between two attempts to connect, in ms. */
const MAX_RECONNECT_PAUSE_MS = 500;
/**
 * How long a call waits for a connection, in ms. It is longer than MAX_RECONNECT_PAUSE_MS, so that a call can reach a
 * service that restarts.
 */
const CONNECT_MS = 1500;
/**
 * How soon the service's host name is resolved again, in ms, after all known addresses have failed or one of them has
 * closed its connection. The default of grpc-js, 30 s, is longer than an upgrade takes to replace all replicas.
 */
const RESOLVE_AGAIN_MS = 1000;
/** Pauses before an idempotent call without a response is sent again, in ms. */
const RETRY_PAUSES_MS = [50, 150, 400];
const ATTEMPTS = RETRY_PAUSES_MS.length + 1;
const pauseMs = (attempt: number): number => RETRY_PAUSES_MS[attempt - 1] ?? 0;

const asBytes = (bytes: Buffer): Uint8Array => bytes;

/**
 * Opens a network channel to the service `audience` at `address` (host:port). If the name has several addresses, calls
 * are distributed over them round-robin. Every call waits briefly for a connection before it sends anything. Idempotent
 * methods are retried if there was no response, all others only if the server refused the stream before it read the
 * call. The retries of grpc-js are not used: they see only the status, so they would also repeat a call to which the
 * service itself responded with UNAVAILABLE.
 */
export function grpcChannel({
  address,
  audience,
  tls,
}: {
  address: string;
  audience: string;
  /** Mutual TLS: the certificate of the other end must name the audience. */
  tls?: GrpcTls | undefined;
}): Channel {
  const measured = callDurations("client");
  const client = new Client(address, tls?.channel ?? credentials.createInsecure(), {
    ...(tls && { "grpc.ssl_target_name_override": audience }),
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": MAX_RECONNECT_PAUSE_MS,
    "grpc.keepalive_time_ms": 30_000,
    "grpc.dns_min_time_between_resolutions_ms": RESOLVE_AGAIN_MS,
    // Without this option, each resolution of the name also requests TXT records, and those could replace the
    // configuration above.
    "grpc.service_config_disable_resolution": 1,
  });

  /**
   * Resolves when there is a connection or when the time limit is reached. If the time limit is reached, the call that
   * follows fails and reports the reason.
   */
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
          answer && !error ? resolve(answer) : reject(error ?? new Error("the response is empty")),
      );
    });

  return {
    audience,
    call: (method, request, metadata) =>
      measured(methodPath(method).slice(1), async () => {
        await connected(metadata.deadline);
        const bytes = toBinary(method.input, request);
        const isRetryable = (error: unknown, attempt: number): boolean =>
          ((isIdempotent(method) && isUnanswered(error as ServiceError)) ||
            isRefused(error as ServiceError)) &&
          Date.now() + pauseMs(attempt) < metadata.deadline;
        const answer = await withRetry({ attempts: ATTEMPTS, isRetryable, pauseMs }, () =>
          unary(methodPath(method), bytes, metadata),
        ).catch((error: unknown) => {
          const failure = error as ServiceError;
          throw thrownBy(failure) ?? errorFromStatus(failure.code, failure.details, audience);
        });
        return fromBinary(method.output, answer);
      }),
    [Symbol.asyncDispose]: async () => client.close(),
  };
}

/** Returns the AppError that the service threw; undefined if it threw another error or if there was no response. */
function thrownBy(failure: ServiceError): AppError | undefined {
  const [detail] = failure.metadata?.get(detailTrailer) ?? [];
  return Buffer.isBuffer(detail) ? errorFromBytes(detail) : undefined;
}

const isUnanswered = (failure: ServiceError): boolean =>
  failure.code === status.UNAVAILABLE && thrownBy(failure) === undefined;

/**
 * Returns whether the server refused the stream before it read the call. A server does so while it closes a connection
 * that has reached its maximum age. HTTP/2 guarantees that such a call was not processed, so every method can be called
 * again.
 */
const isRefused = (failure: ServiceError): boolean =>
  failure.code === status.UNAVAILABLE &&
  /^Stream refused by server|NGHTTP2_REFUSED_STREAM$/.test(failure.details);

function headersOf({ assertion, traceparent, clientAddress }: CallMetadata): Metadata {
  const headers = new Metadata();
  headers.set(assertionKey, assertion);
  if (traceparent) headers.set(traceparentKey, traceparent);
  if (clientAddress) headers.set(clientAddressKey, clientAddress);
  return headers;
}
