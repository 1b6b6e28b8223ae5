import { expect, test } from "vitest";
import { StartError } from "./lifecycle.ts";
import { observeDependency, startOpsServer } from "./ops-server.ts";
import { startTelemetry } from "./telemetry.ts";

const up = async () => {};
const down = async () => {
  throw new Error("connection refused");
};
const local = { host: "127.0.0.1", port: 0 };
const stopping = new AbortController().signal;

async function startedServer(checks: Record<string, () => Promise<void>>) {
  const server = await startOpsServer(local);
  server.started({ checks, required: ["database"], stopping });
  return server;
}

async function get(port: number, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
}

test("an optional dependency is reported and does not affect readiness", async () => {
  await using server = await startedServer({ database: up, nats: down });
  const { status, body } = await get(server.port, "/readyz?verbose");
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({
    status: "ok",
    dependencies: {
      database: { status: "ok" },
      nats: { status: "failed", reason: "connection refused" },
    },
  });
});

test("the metrics show which dependencies respond", async () => {
  await using _telemetry = await startTelemetry({ service: "gateway" });
  await using _database = observeDependency("state", "database", up);
  await using _nats = observeDependency("state", "nats", down);
  await using server = await startedServer({ database: up });
  const { body } = await get(server.port, "/metrics");
  expect(body).toMatch(/^statehouse_dependency_up\{.*dependency="database".*\} 1$/m);
  expect(body).toMatch(/^statehouse_dependency_up\{.*dependency="nats".*\} 0$/m);
});

test("without a required dependency the service is live but not ready", async () => {
  await using server = await startedServer({ database: down });
  expect((await get(server.port, "/readyz")).status).toBe(503);
  expect((await get(server.port, "/startupz")).status).toBe(200);
  expect((await get(server.port, "/healthz")).status).toBe(200);
  expect((await get(server.port, "/metrics")).status).toBe(200);
  expect((await get(server.port, "/other")).status).toBe(404);
});

test("a port in use is reported in one sentence", async () => {
  await using server = await startOpsServer(local);
  const second = startOpsServer({ ...local, port: server.port });
  await expect(second).rejects.toThrow(StartError);
  await expect(second).rejects.toThrow(`Cannot listen on 127.0.0.1:${server.port}`);
});

test("a service that starts is live, and neither started nor ready", async () => {
  await using server = await startOpsServer(local);
  expect((await get(server.port, "/healthz")).status).toBe(200);
  for (const path of ["/startupz", "/readyz"]) {
    expect(await get(server.port, path)).toEqual({ status: 503, body: '{"status":"starting"}' });
  }
});

test("a service that stops is live and not ready, whatever its dependencies", async () => {
  const stop = new AbortController();
  await using server = await startOpsServer(local);
  server.started({ checks: {}, required: [], stopping: stop.signal });
  expect((await get(server.port, "/readyz")).status).toBe(200);
  stop.abort();
  expect(await get(server.port, "/readyz")).toEqual({ status: 503, body: '{"status":"stopping"}' });
  expect((await get(server.port, "/healthz")).status).toBe(200);
  expect((await get(server.port, "/startupz")).status).toBe(200);
});

test("readiness does not wait for a dependency that it does not require", async () => {
  const silent = () => new Promise<void>(() => {});
  await using server = await startedServer({ database: up, nats: silent });
  const { status, body } = await get(server.port, "/readyz");
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({ status: "ok", dependencies: { database: { status: "ok" } } });
});
