import { awaitedStatementCount } from "@statehouse/postgres";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { createClient, grpcChannel } from "@statehouse/rpc";
import { expect, test } from "vitest";
import { runAccess } from "./running-access.ts";

test("a single service responds over gRPC and reports readiness with each dependency", async () => {
  await using access = await runAccess({ embedded: false });
  const { ports } = access.access;
  if (!ports) throw new Error("the service opened no ports");
  const { id, secret } = await access.person();
  await using channel = grpcChannel({ address: `127.0.0.1:${ports.grpc}`, audience: "access" });
  const client = createClient(AuthenticationService, channel, access.identities.gateway);
  expect((await client.authenticate({ token: secret })).principal).toMatchObject({ id });
  await expect(client.authenticate({ token: "sth_" })).rejects.toMatchObject({
    kind: "unauthenticated",
  });
  const ops = (path: string) => fetch(`http://127.0.0.1:${ports.ops}${path}`);
  expect((await ops("/healthz")).status).toBe(200);
  const ready = await ops("/readyz?verbose");
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({ dependencies: { database: { status: "ok" } } });
  expect((await ops("/metrics")).status).toBe(200);
});

test("authentication takes one statement, and grants are read once per version", async () => {
  await using access = await runAccess({ tokenUsageIntervalMs: 60_000 });
  const { secret } = await access.person();
  const counted = async (work: () => Promise<unknown>): Promise<number> => {
    await work();
    const before = awaitedStatementCount();
    for (let i = 0; i < 200; i++) await work();
    return (awaitedStatementCount() - before) / 200;
  };
  expect(await counted(() => access.versionsOf(secret))).toBe(1);
  expect(await counted(() => access.users.getCurrentUser({}, access.as(secret)))).toBe(2);
});

test("pending last uses of tokens are written on shutdown", async () => {
  await using access = await runAccess({ tokenUsageIntervalMs: 60_000 });
  const { id, secret } = await access.person();
  await access.versionsOf(secret);
  await access.access[Symbol.asyncDispose]();
  const rows = await access.sql<{ used: boolean }>(
    "select last_used_at is not null as used from tokens where user_id = $1",
    [id],
  );
  expect(rows).toEqual([{ used: true }]);
});
