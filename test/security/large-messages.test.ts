import { type ClientHttp2Session, connect, constants } from "node:http2";
import { gzipSync } from "node:zlib";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { createIdentity, generateAssertionKey } from "@statehouse/rpc";
import { expect, test } from "vitest";
import { createLockServer } from "../stack/lock-server.ts";

// Attack: a service, or a runner, fills the memory of another service with requests larger than any real one.

const MEBIBYTE = 1024 ** 2;
const RESOURCE_EXHAUSTED = "8";

/** Sends the beginning of a message to GetPlacement; resolves with the status of the response. */
function statusOf(
  session: ClientHttp2Session,
  {
    assertion,
    flag,
    length,
    bytes,
  }: Record<"flag" | "length", number> & {
    assertion: string;
    bytes: Buffer;
  },
): Promise<string | undefined> {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: `/${WorkspaceLockService.typeName}/GetPlacement`,
    "content-type": "application/grpc",
    "grpc-encoding": "gzip",
    te: "trailers",
    "statehouse-assertion": assertion,
  });
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(length, 1);
  stream.write(prefix);
  stream.write(bytes);
  return new Promise((resolve, reject) => {
    stream.on("response", (headers) => resolve(headers["grpc-status"]?.toString()));
    stream.on("trailers", (headers) => resolve(headers["grpc-status"]?.toString()));
    stream.on("error", reject);
  });
}

test("a request above the limit of its method is refused when its length is announced", async () => {
  const { publicJwk, privateJwk } = await generateAssertionKey();
  await using server = createLockServer(publicJwk);
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  const assertion = await (await createIdentity("state", privateJwk)).assertion("workspaces");
  const session = connect(`http://127.0.0.1:${port}`);
  // The header of the message declares a length of 5 MiB, but the message never ends.
  const announced = { flag: 0, length: 5 * MEBIBYTE, bytes: Buffer.alloc(1024) };
  expect(await statusOf(session, { assertion, ...announced })).toBe(RESOURCE_EXHAUSTED);
  const bomb = gzipSync(Buffer.alloc(120 * MEBIBYTE));
  const compressed = { flag: 1, length: bomb.length, bytes: bomb };
  expect(await statusOf(session, { assertion, ...compressed })).toBe(RESOURCE_EXHAUSTED);
  session.destroy();
});
