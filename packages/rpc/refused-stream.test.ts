import { createServer, constants as http2, type ServerHttp2Stream } from "node:http2";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { expect, test } from "vitest";
import { createClient, createIdentity, generateAssertionKey, grpcChannel } from "./index.ts";

/** Responds with an empty gRPC message. */
function answer(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.alloc(5));
}

test("a call that the server refused before it read it is made again, whatever the method", async () => {
  await using stack = new AsyncDisposableStack();
  let streams = 0;
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    streams += 1;
    // The refused stream reports its own refusal as an error.
    stream.on("error", () => {});
    if (streams > 2) answer(stream);
    else stream.close(http2.NGHTTP2_REFUSED_STREAM);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  const listening = server.address();
  const port = typeof listening === "object" && listening ? listening.port : 0;
  const channel = stack.use(grpcChannel({ address: `127.0.0.1:${port}`, audience: "workspaces" }));
  const { privateJwk } = await generateAssertionKey();
  const identity = await createIdentity("gateway", privateJwk);
  const locks = createClient(WorkspaceLockService, channel, identity);
  await locks.lockWorkspace({ workspaceId: "ws-1", reason: "" });
  expect(streams).toBe(3);
});
