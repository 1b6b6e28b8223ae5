import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { openHttpPort } from "@statehouse/runtime";
import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";

// Attack: a client sends a request on each of many connections at the same time.

const CONNECTIONS = 300;

test("requests that arrive together begin in several turns of the event loop, in order", async () => {
  const begun: number[] = [];
  let turn = 0;
  let isCounting = true;
  const count = () => {
    turn += 1;
    if (isCounting) setImmediate(count);
  };
  const order: string[] = [];
  await using port = await openHttpPort({
    ...{ host: "127.0.0.1", port: 0, shutdownMs: 1000 },
    deadlines: { headersMs: 60_000, idleMs: 60_000 },
    stopping: new AbortController().signal,
    handler: (request, response) => {
      begun[turn] = (begun[turn] ?? 0) + 1;
      order.push(request.url ?? "");
      response.end("done");
    },
  });
  const sockets: Socket[] = [];
  for (let index = 0; index < CONNECTIONS; index++) {
    const socket = connect(port.port, "127.0.0.1");
    await once(socket, "connect");
    socket.resume();
    sockets.push(socket);
  }
  count();
  for (const [index, socket] of sockets.entries()) {
    socket.write(`GET /${index} HTTP/1.1\r\nHost: a\r\n\r\n`);
  }
  await waitFor(() => order.length === CONNECTIONS);
  isCounting = false;
  for (const socket of sockets) socket.destroy();
  // The test and the port count turns of the event loop at different points. A turn of the test can therefore overlap
  // two turns of the port, and contain the requests of both.
  expect(Math.max(...begun.filter((number) => number !== undefined))).toBeLessThanOrEqual(2 * 32);
  expect(order).toEqual(sockets.map((_, index) => `/${index}`));
});
