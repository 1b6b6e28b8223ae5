import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createBodyMemory } from "@statehouse/gateway/http/body-memory";
import { receiveBody } from "@statehouse/gateway/http/receive-body";
import { expect, test } from "vitest";

const MIB = 1024 * 1024;
const SIZE = 256 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** The memory in use, in bytes. */
function usedMemory(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("a body in chunks of one byte uses about as much memory as it has bytes", async () => {
  const memory = createBodyMemory({ total: MIB, largestBody: MIB });
  const arrived = Promise.withResolvers<void>();
  const body = Promise.withResolvers<Buffer>();
  const server = createServer((request, response) => {
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size === SIZE) arrived.resolve();
    });
    receiveBody(request, { limit: MIB, timeoutMs: 60_000, memory: memory.lease("user/1") })
      .then(body.resolve, body.reject)
      .finally(() => response.end());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const client = connect(Number(Reflect.get(Object(address), "port")), "127.0.0.1");
  client.on("error", body.reject);
  const before = usedMemory();
  client.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const chunks = Buffer.from("1\r\nx\r\n".repeat(1024));
  for (let sent = 0; sent < SIZE; sent += 1024) {
    if (!client.write(chunks)) await once(client, "drain");
  }
  await arrived.promise;
  expect(usedMemory() - before).toBeLessThan(4 * MIB);
  client.write("0\r\n\r\n");
  expect((await body.promise).equals(Buffer.alloc(SIZE, "x"))).toBe(true);
  client.destroy();
  server.close();
});
