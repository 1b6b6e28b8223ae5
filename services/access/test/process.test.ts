import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { createClient, grpcChannel } from "@statehouse/rpc";
import { childEnvironment } from "@statehouse/testing";
import { expect, test } from "vitest";
import { runAccess } from "./running-access.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

const run = (environment: Record<string, string>): ChildProcess =>
  spawn(process.execPath, [main, "access"], {
    env: childEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"],
  });

async function stderrAndCode(child: ChildProcess): Promise<{ stderr: string; code: unknown }> {
  let stderr = "";
  child.stderr?.on("data", (chunk) => {
    stderr += String(chunk);
  });
  const [code] = await once(child, "exit");
  return { stderr, code };
}

/** Its address, from the line that it logs. */
async function ports(child: ChildProcess): Promise<{ grpc: number; ops: number }> {
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, grpc, ops } = JSON.parse(line);
    if (msg === "access listens") return { grpc, ops };
  }
  throw new Error("it ended without listening");
}

test("the process serves the same tokens and exits with 0 on SIGTERM", async () => {
  await using access = await runAccess();
  const { id, secret } = await access.person();
  const child = run(access.environment);
  const ended = stderrAndCode(child);
  const { grpc, ops } = await ports(child);
  child.stdout?.resume();
  await using channel = grpcChannel({ address: `127.0.0.1:${grpc}`, audience: "access" });
  const client = createClient(AuthenticationService, channel, access.identities.gateway);
  expect((await client.authenticate({ token: secret })).principal).toMatchObject({ id });
  expect((await fetch(`http://127.0.0.1:${ops}/readyz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await ended).toEqual({ stderr: "", code: 0 });
});

test("an invalid environment is reported with all problems, a port in use in one sentence", async () => {
  expect(await stderrAndCode(run({ GRPC_PORT: "x" }))).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^DATABASE_URL: .+\nGRPC_PORT: .+\nASSERTION_PRIVATE_KEY: .+\nASSERTION_PUBLIC_KEYS: .+\n$/,
    ),
  });
  await using access = await runAccess();
  const busy = createServer().listen(0, "127.0.0.1");
  await once(busy, "listening");
  const address = busy.address();
  const port = typeof address === "object" && address ? String(address.port) : "";
  const { stderr, code } = await stderrAndCode(run({ ...access.environment, GRPC_PORT: port }));
  busy.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^[^\\n]*${port}[^\\n]*\\n$`));
});
