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
  // `openHttpPort` begins at most 32 requests in each turn of the event loop. It begins to count a turn at another
  // point than this test, so what the test counts as one turn can contain the requests of two.
  expect(Math.max(...begun.filter((number) => number !== undefined))).toBeLessThanOrEqual(2 * 32);
  expect(order).toEqual(sockets.map((_, index) => `/${index}`));
});
