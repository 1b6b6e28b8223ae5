import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOn } from "./listener.ts";
import { metricsText } from "./metrics.ts";
import { withTimeout } from "./with-timeout.ts";

/** Resolves if the dependency responds; throws the reason if it does not. */
export type Check = () => Promise<void>;

export interface OpsOptions {
  checks: Readonly<Record<string, Check>>;
  /** The checks that readiness requires. All other checks are only reported. */
  required: readonly string[];
}

/** Serves /healthz, /readyz and /metrics; returns false for any other path. */
type OpsHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

const CHECK_TIMEOUT_MS = 2000;

function createOpsHandler({ checks, required }: OpsOptions): OpsHandler {
  return async (request, response) => {
    const path = request.url?.split("?", 1)[0];
    if (path === "/healthz") send(response, 200, "application/json", '{"status":"ok"}');
    else if (path === "/readyz") {
      const dependencies = await runChecks(checks);
      const ready = required.every((name) => dependencies[name]?.status === "ok");
      const body = JSON.stringify({ status: ready ? "ok" : "failed", dependencies });
      send(response, ready ? 200 : 503, "application/json", body);
    } else if (path === "/metrics") {
      send(response, 200, "text/plain; version=0.0.4; charset=utf-8", await metricsText());
    } else return false;
    return true;
  };
}

/** Serves the operations endpoints on a separate listener. Throws `StartError` if the port is in use. */
export async function startOpsServer(
  options: OpsOptions & { host: string; port: number },
): Promise<AsyncDisposable & { port: number }> {
  const handler = createOpsHandler(options);
  const server = createServer((request, response) => {
    handler(request, response).then(
      (known) => {
        if (!known) send(response, 404, "application/json", '{"status":"not found"}');
      },
      () => response.destroy(),
    );
  });
  const port = await listenOn(server, options);
  return {
    port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Outcome = { status: "ok" } | { status: "failed"; reason: string };

async function runChecks(checks: OpsOptions["checks"]): Promise<Record<string, Outcome>> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const),
  );
  return Object.fromEntries(outcomes);
}

async function runCheck(check: Check): Promise<Outcome> {
  try {
    await withTimeout(CHECK_TIMEOUT_MS, check());
    return { status: "ok" };
  } catch (error) {
    return { status: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}
