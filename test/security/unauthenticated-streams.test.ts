import { connect, constants } from "node:http2";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { createRpcServer, generateAssertionKey, implement } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import { expect, test } from "vitest";

const MEBIBYTE = 1024 ** 2;
const UNAUTHENTICATED = "16";

test("a stream without an assertion is refused before its message is read", async () => {
  const { publicJwk } = await generateAssertionKey();
  await using server = createRpcServer({
    name: "workspaces",
    bindings: [
      implement(WorkspaceLockService, {
        lockWorkspace: async () => ({}),
        unlockWorkspace: async () => ({}),
        forceUnlockWorkspace: async () => ({}),
        getLock: async () => ({}),
        getPlacement: async () => ({}),
        batchGetPlacements: async () => ({}),
      }),
    ],
    keys: { state: [publicJwk] },
    context: async (principal) => ({ principal }),
    logger: createLogger({ service: "workspaces", level: "silent" }),
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  const session = connect(`http://127.0.0.1:${port}`);
  const outcomes = Array.from({ length: 10 }, () => {
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: `/${WorkspaceLockService.typeName}/GetPlacement`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    // The message announces 120 MiB and never ends.
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(120 * MEBIBYTE, 1);
    stream.write(prefix);
    stream.write(Buffer.alloc(256 * 1024));
    return new Promise<string | undefined>((resolve) => {
      const late = setTimeout(() => resolve(undefined), 3000);
      stream.on("response", (headers) => {
        clearTimeout(late);
        resolve(headers["grpc-status"]?.toString());
      });
    });
  });
  expect(await Promise.all(outcomes)).toEqual(Array.from({ length: 10 }, () => UNAUTHENTICATED));
  session.destroy();
});
