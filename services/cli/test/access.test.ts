import { once } from "node:events";
import { createServer } from "node:net";
import { runAccess } from "@statehouse/access/test/running-access";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { createClient, grpcChannel } from "@statehouse/rpc";
import { expect, test } from "vitest";
import { exitOf, portsOf, startService, statehouse } from "./statehouse.ts";

test("the process serves the same tokens and exits with 0 on SIGTERM", async () => {
  await using access = await runAccess();
  const { id, secret } = await access.person();
  const child = startService("access", access.environment);
  const ended = exitOf(child);
  const { grpc, ops } = await portsOf(child);
  await using channel = grpcChannel({ address: `127.0.0.1:${grpc}`, audience: "access" });
  const client = createClient(AuthenticationService, channel, access.identities.gateway);
  expect((await client.authenticate({ token: secret })).principal).toMatchObject({ id });
  expect((await fetch(`http://127.0.0.1:${ops}/readyz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await ended).toEqual({ stderr: "", code: 0 });
});

test("an invalid environment is reported with all problems, a port in use in one sentence", async () => {
  expect(await statehouse(["access"], { GRPC_PORT: "x" })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^DATABASE_URL: .+\nGRPC_PORT: .+\nASSERTION_PRIVATE_KEY: .+\nASSERTION_PUBLIC_KEYS: .+\nGRPC_CA_FILE: .+\nGRPC_CERT_FILE: .+\nGRPC_KEY_FILE: .+\n$/,
    ),
  });
  await using access = await runAccess();
  const busy = createServer().listen(0, "127.0.0.1");
  await once(busy, "listening");
  const address = busy.address();
  const port = typeof address === "object" && address ? String(address.port) : "";
  const { stderr, code } = await statehouse(["access"], {
    ...access.environment,
    GRPC_PORT: port,
  });
  busy.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^[^\\n]*${port}[^\\n]*\\n$`));
});
