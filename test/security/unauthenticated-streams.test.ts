import { connect, constants } from "node:http2";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { generateAssertionKey } from "@statehouse/rpc";
import { expect, test } from "vitest";
import { createLockServer } from "../stack/lock-server.ts";

const MEBIBYTE = 1024 ** 2;
const UNAUTHENTICATED = "16";

test("a stream without an assertion is refused before its message is read", async () => {
  const { publicJwk } = await generateAssertionKey();
  await using server = createLockServer(publicJwk);
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  const session = connect(`http://127.0.0.1:${port}`);
  const outcomes = Array.from({ length: 10 }, () => {
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: `/${WorkspaceLockService.typeName}/GetPlacement`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    // The header of the message declares a length of 120 MiB, but the message never ends.
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(120 * MEBIBYTE, 1);
    stream.write(prefix);
    stream.write(Buffer.alloc(256 * 1024));
    // A stream that is read until the default deadline ends with another status.
    return new Promise<string | undefined>((resolve) => {
      stream.on("response", (headers) => resolve(headers["grpc-status"]?.toString()));
    });
  });
  expect(await Promise.all(outcomes)).toEqual(Array.from({ length: 10 }, () => UNAUTHENTICATED));
  session.destroy();
});
