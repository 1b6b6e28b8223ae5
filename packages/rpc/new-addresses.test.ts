import { promises as dns } from "node:dns";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { expect, onTestFinished, test } from "vitest";
import { createClient, createIdentity, generateAssertionKey, grpcChannel } from "./index.ts";

/** Responds with an empty gRPC message. */
function answer(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.alloc(5));
}

test("replicas that replace all known ones are found while their name is in use", async () => {
  await using stack = new AsyncDisposableStack();
  const server = createServer();
  server.on("stream", answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  const listening = server.address();
  const port = typeof listening === "object" && listening ? listening.port : 0;
  // The name first resolves to the address of a replica that no longer runs.
  let address = "127.0.0.2";
  const { lookup } = dns;
  Reflect.set(dns, "lookup", async () => [{ address, family: 4 }]);
  onTestFinished(() => void Reflect.set(dns, "lookup", lookup));
  const channel = stack.use(
    grpcChannel({ address: `workspaces.test:${port}`, audience: "workspaces" }),
  );
  const { privateJwk } = await generateAssertionKey();
  const identity = await createIdentity("gateway", privateJwk);
  const locks = createClient(WorkspaceLockService, channel, identity);
  const call = () => locks.lockWorkspace({ workspaceId: "ws-1", reason: "" });
  await expect(call()).rejects.toThrow();
  address = "127.0.0.1";
  const succeeds = () =>
    call().then(
      () => true,
      () => false,
    );
  await expect.poll(succeeds).toBe(true);
});
