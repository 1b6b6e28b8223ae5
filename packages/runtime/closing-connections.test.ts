import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { openHttpPort } from "./listener.ts";

const common = {
  host: "127.0.0.1",
  port: 0,
  deadlines: { headersMs: 10_000, idleMs: 10_000 },
  stopping: new AbortController().signal,
  shutdownMs: 5000,
};

test("a client closes its idle connections before the port that is draining closes them", async () => {
  await using port = await openHttpPort({
    ...common,
    drainMs: 2000,
    handler: (_, response) => void response.end("answered"),
  });
  const agent = new Agent({ keepAlive: true, timeout: 60_000 });
  const [response] = await once(get({ port: port.port, agent }), "response");
  response.resume();
  await once(response, "end");
  await expect.poll(() => Object.keys(agent.freeSockets)).toHaveLength(1);
  const { headers } = response;
  expect(headers["keep-alive"]).toBe("timeout=2");
  await expect.poll(() => Object.keys(agent.freeSockets)).toHaveLength(0);
  const [again] = await once(get({ port: port.port, agent }), "response");
  again.resume();
  agent.destroy();
});

test("a request that arrived before the port closed is answered, even if the server had not read it by then", async () => {
  const port = await openHttpPort({
    ...common,
    handler: (_, response) => void response.end("answered"),
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
