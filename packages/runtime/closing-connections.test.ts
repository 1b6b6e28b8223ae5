import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { openHttpPort } from "./listener.ts";

test("a request that has arrived when the port closes is answered, though nothing has read it", async () => {
  const port = await openHttpPort({
    host: "127.0.0.1",
    port: 0,
    deadlines: { headersMs: 10_000, idleMs: 10_000 },
    handler: (_, response) => void response.end("answered"),
    stopping: new AbortController().signal,
    shutdownMs: 5000,
  });
  const client = connect(port.port, "127.0.0.1");
  let received = "";
  client.on("data", (chunk: Buffer) => {
    received += chunk;
  });
  const request = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
  client.write(request);
  await expect.poll(() => received).toContain("answered");
  received = "";
  const closed = once(client, "close");
  // The request must be in the server's buffer before the port is closed.
  client.write(request);
  await port[Symbol.asyncDispose]();
  await closed;
  expect(received).toContain("answered");
});
