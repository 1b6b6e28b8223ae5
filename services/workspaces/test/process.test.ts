import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freshDatabase } from "@statehouse/postgres/testing";
import { generateAssertionKey } from "@statehouse/rpc";
import { childEnvironment, sharedDependencies } from "@statehouse/testing";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

const run = (args: readonly string[], environment: Record<string, string>): ChildProcess =>
  spawn(process.execPath, [program, ...args], {
    env: childEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"],
  });

async function codeAndStderr(child: ChildProcess): Promise<{ code: unknown; stderr: string }> {
  let stderr = "";
  child.stderr?.on("data", (chunk) => {
    stderr += String(chunk);
  });
  const [code] = await once(child, "exit");
  return { code, stderr };
}

/** The address of its operations endpoints, from the line that it logs. */
async function opsPort(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, ops } = JSON.parse(line);
    if (msg === "workspaces listens") return ops;
  }
  throw new Error("it ended without listening");
}

test("the process is ready after its migration and exits with 0 on SIGTERM", async () => {
  await using database = await freshDatabase({ contextName: "workspaces", migrations: [] });
  const { privateJwk, publicJwk } = await generateAssertionKey();
  const environment = {
    DATABASE_URL: database.url,
    NATS_URL: sharedDependencies().nats.url,
    HOST: "127.0.0.1",
    GRPC_PORT: "0",
    OPS_PORT: "0",
    ASSERTION_PRIVATE_KEY: JSON.stringify(privateJwk),
    ASSERTION_PUBLIC_KEYS: JSON.stringify({ workspaces: [publicJwk] }),
    SEALING_KEYS: `k1:${Buffer.alloc(32).toString("base64")}`,
  };
  const child = run(["workspaces"], environment);
  const ended = codeAndStderr(child);
  const ops = await opsPort(child);
  child.stdout?.resume();
  const ready = () => fetch(`http://127.0.0.1:${ops}/readyz`);
  const before = await ready();
  expect(before.status).toBe(503);
  expect(await before.text()).toContain("0001_init");
  expect(await codeAndStderr(run(["migrate", "workspaces"], environment))).toEqual({
    code: 0,
    stderr: "",
  });
  expect((await ready()).status).toBe(200);
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, stderr: "" });
});

test("an invalid environment is reported with all problems", async () => {
  const child = run(["workspaces"], { GRPC_PORT: "x", DEFAULT_EXECUTION_MODE: "agent" });
  const { code, stderr } = await codeAndStderr(child);
  expect(code).toBe(1);
  const names = stderr
    .trimEnd()
    .split("\n")
    .map((line) => line.split(":")[0]);
  expect(names).toEqual([
    "DATABASE_URL",
    "GRPC_PORT",
    "ASSERTION_PRIVATE_KEY",
    "ASSERTION_PUBLIC_KEYS",
    "SEALING_KEYS",
    "DEFAULT_EXECUTION_MODE",
  ]);
});
