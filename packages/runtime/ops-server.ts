import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { scrapedGauge } from "./instruments.ts";
import { listenOn } from "./listener.ts";
import { metricsText } from "./metrics.ts";
import { withTimeout } from "./with-timeout.ts";

/** Resolves if the dependency responds; throws the reason if the dependency does not respond. */
export type Check = () => Promise<void>;

export interface OpsOptions {
  checks: Readonly<Record<string, Check>>;
  /** The checks that readiness requires. All other checks are only reported. */
  required: readonly string[];
  /** After this signal is aborted, the service is not ready. */
  stopping: AbortSignal;
}

/** The port of health, readiness and metrics. The port is opened before and closed after everything else. */
export interface OpsServer extends AsyncDisposable {
  readonly port: number;
  /** Reports that the service has started. From then on, the server also reports its readiness. */
  started(options: OpsOptions): void;
}

const CHECK_TIMEOUT_MS = 2000;
/** How long the metrics show the result of a check, in ms. */
const METRIC_MAX_AGE_MS = 10_000;

interface Report {
  ok: boolean;
  body: unknown;
}

/**
 * Reports readiness. Runs only the checks that readiness requires, unless `all` is true: any other dependency that does
 * not respond would delay the response beyond the time limit of a probe.
 */
async function readiness(
  { checks, required, stopping }: OpsOptions,
  all: boolean,
): Promise<Report> {
  if (stopping.aborted) return { ok: false, body: { status: "stopping" } };
  const names = all ? Object.keys(checks) : required;
  const outcomes = names.map(async (name) => [name, await runCheck(checks[name])] as const);
  const dependencies = Object.fromEntries(await Promise.all(outcomes));
  const ok = required.every((name) => dependencies[name]?.status === "ok");
  return { ok, body: { status: ok ? "ok" : "failed", dependencies } };
}

/** Serves the operations endpoints on a separate listener. Throws `StartError` if the port is in use. */
export async function startOpsServer(address: { host: string; port: number }): Promise<OpsServer> {
  let options: OpsOptions | undefined;
  const starting: Report = { ok: false, body: { status: "starting" } };
  const reportOf = async (path: string, all: boolean): Promise<Report | undefined> => {
    if (path === "/healthz") return { ok: true, body: { status: "ok" } };
    if (path === "/startupz") return options ? { ok: true, body: { status: "ok" } } : starting;
    if (path === "/readyz") return options ? readiness(options, all) : starting;
    return undefined;
  };
  const serve = async ({ url = "" }: IncomingMessage, response: ServerResponse) => {
    const [path = "", query = ""] = url.split("?", 2);
    if (path === "/metrics") {
      send(response, 200, "text/plain; version=0.0.4; charset=utf-8", await metricsText());
      return;
    }
    const report = await reportOf(path, new URLSearchParams(query).has("verbose"));
    const { ok, body } = report ?? { ok: false, body: { status: "not found" } };
    send(response, ok ? 200 : report ? 503 : 404, "application/json", JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const port = await listenOn(server, address);
  return {
    port,
    started(running) {
      options = running;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Shows in the metrics whether a dependency of the service responds. */
export const observeDependency = (
  service: string,
  dependency: string,
  check: Check,
): AsyncDisposable =>
  scrapedGauge("statehouse/runtime", {
    name: "statehouse_dependency_up",
    description: "1 if the dependency responds, 0 if it does not",
    attributes: { service, dependency },
    maxAgeMs: METRIC_MAX_AGE_MS,
    read: async () => ((await runCheck(check)).status === "ok" ? 1 : 0),
  });

type Outcome = { status: "ok" } | { status: "failed"; reason: string };

async function runCheck(check: Check | undefined): Promise<Outcome> {
  try {
    await withTimeout(
      CHECK_TIMEOUT_MS,
      check?.() ?? Promise.reject(new Error("no check with this name exists")),
    );
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
