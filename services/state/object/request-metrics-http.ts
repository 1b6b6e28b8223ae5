import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { metrics } from "@opentelemetry/api";
import { authenticationFailures, counterFromZero, durationHistogram } from "@statehouse/runtime";

const SCOPE = "statehouse/state";
/** The upper bounds reach 15 minutes, because large states on slow connections take minutes. */
const TRANSFER_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900];
/** The HTTP methods that have separate series in the metrics. */
const methods = ["GET", "HEAD", "PUT"] as const;
/** The status that metrics show for a request whose client disconnected before the end of the response. */
const CLIENT_CLOSED = 499;

export interface RequestMetrics {
  /** Counts requests whose token was missing or refused. */
  notAuthenticated: ReturnType<typeof authenticationFailures<"token">>;
  /** Measures a request until its response has ended. `route` is a pattern, never a path. */
  measure(request: IncomingMessage, response: ServerResponse, route: string): void;
}

/** Creates the metrics of the port for state bytes. */
export function requestMetrics(): RequestMetrics {
  const durations = durationHistogram(SCOPE, {
    name: "statehouse_object_request_duration_seconds",
    description: "Duration of uploads and downloads of state bytes",
    boundaries: TRANSFER_SECONDS,
  });
  const received = counterFromZero(SCOPE, "statehouse_object_received_bytes_total", {
    description: "Bytes that clients have sent to the port for state bytes",
  });
  const sent = counterFromZero(SCOPE, "statehouse_object_sent_bytes_total", {
    description: "Bytes that clients have received from the port for state bytes",
  });
  const inProgress = metrics
    .getMeter(SCOPE)
    .createUpDownCounter("statehouse_object_requests_in_progress", {
      description: "Uploads and downloads of state bytes that have not ended",
    });
  // The number of bytes that earlier requests transferred on each connection. It cannot be read from the socket when a
  // request begins, because a small upload has arrived completely by then.
  const counted = new WeakMap<Socket, { received: number; sent: number }>();
  return {
    notAuthenticated: authenticationFailures("token"),
    measure(request, response, route) {
      const { socket } = request;
      const startedAt = performance.now();
      inProgress.add(1);
      response.once("close", () => {
        inProgress.add(-1);
        const before = counted.get(socket);
        counted.set(socket, { received: socket.bytesRead, sent: socket.bytesWritten });
        received.add(socket.bytesRead - (before?.received ?? 0));
        sent.add(socket.bytesWritten - (before?.sent ?? 0));
        durations.record((performance.now() - startedAt) / 1000, {
          method: methods.find((known) => known === request.method) ?? "other",
          route,
          status: response.writableFinished ? response.statusCode : CLIENT_CLOSED,
        });
      });
    },
  };
}
