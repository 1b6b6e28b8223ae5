import { freshDatabase } from "@statehouse/postgres/testing";
import { newKeyRing, newServiceKeys, sharedDependencies } from "@statehouse/testing";
import { expect, test } from "vitest";
import { exitOf, portsOf, startService, statehouse } from "./statehouse.ts";

test("the process is ready after its migration and exits with 0 on SIGTERM", async () => {
  await using database = await freshDatabase({ contextName: "workspaces", migrations: [] });
  const { settingsOf } = await newServiceKeys("workspaces");
  const environment = {
    DATABASE_URL: database.url,
    NATS_URL: sharedDependencies().nats.url,
    HOST: "127.0.0.1",
    GRPC_PORT: "0",
    DRAIN_SECONDS: "0",
    OPS_PORT: "0",
    ...settingsOf("workspaces"),
    SEALING_KEYS: newKeyRing(),
  };
  const child = startService("workspaces", environment);
  const ended = exitOf(child);
  const { ops } = await portsOf(child);
  const ready = () => fetch(`http://127.0.0.1:${ops}/readyz`);
  const before = await ready();
  expect(before.status).toBe(503);
  expect(await before.text()).toContain("0001_baseline");
  expect(await statehouse(["migrate", "workspaces"], environment)).toMatchObject({
    code: 0,
    stderr: "",
  });
  expect((await ready()).status).toBe(200);
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, stderr: "" });
});

test("an invalid environment is reported with all problems", async () => {
  const { code, stderr } = await statehouse(["workspaces"], {
    DATABASE_POOL_SIZE: "1",
    GRPC_PORT: "x",
    DEFAULT_EXECUTION_MODE: "agent",
  });
  expect(code).toBe(1);
  const names = stderr
    .trimEnd()
    .split("\n")
    .map((line) => line.split(":")[0]);
  expect(names).toEqual([
    "DATABASE_URL",
    "DATABASE_POOL_SIZE",
    "GRPC_PORT",
    "ASSERTION_PRIVATE_KEY",
    "ASSERTION_PUBLIC_KEYS",
    "SEALING_KEYS",
    "DEFAULT_EXECUTION_MODE",
    "GRPC_CA_FILE",
    "GRPC_CERT_FILE",
    "GRPC_KEY_FILE",
  ]);
});
