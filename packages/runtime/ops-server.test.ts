import { expect, test } from "vitest";
import { StartError } from "./lifecycle.ts";
import { startOpsServer } from "./ops-server.ts";

const up = async () => {};
const down = async () => {
  throw new Error("connection refused");
};
const local = { host: "127.0.0.1", port: 0 };

async function get(port: number, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
}

test("an optional dependency is reported and does not affect readiness", async () => {
  const checks = { database: up, nats: down };
  await using server = await startOpsServer({ ...local, checks, required: ["database"] });
  const { status, body } = await get(server.port, "/readyz");
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({
    status: "ok",
    dependencies: {
      database: { status: "ok" },
      nats: { status: "failed", reason: "connection refused" },
    },
  });
});

test("without a required dependency the service is live but not ready", async () => {
  const checks = { database: down };
  await using server = await startOpsServer({ ...local, checks, required: ["database"] });
  expect((await get(server.port, "/readyz")).status).toBe(503);
  expect((await get(server.port, "/healthz")).status).toBe(200);
  expect((await get(server.port, "/metrics")).status).toBe(200);
  expect((await get(server.port, "/other")).status).toBe(404);
});

test("a port in use is reported in one sentence", async () => {
  await using server = await startOpsServer({ ...local, checks: {}, required: [] });
  const second = startOpsServer({ ...local, port: server.port, checks: {}, required: [] });
  await expect(second).rejects.toThrow(StartError);
  await expect(second).rejects.toThrow(`Cannot listen on 127.0.0.1:${server.port}`);
});
