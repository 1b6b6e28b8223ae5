import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

/** Starts a server that responds to each path with the status in the path, and with `body`. */
async function statusServer(atPort = 0, body = "") {
  const server = createServer((request, response) => {
    response.writeHead(Number(request.url?.slice(1))).end(body);
  });
  await new Promise<void>((resolve) => server.listen(atPort, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Returns the address of a server that has stopped. */
async function closedAddress(): Promise<string> {
  await using server = await statusServer();
  return server.url;
}

test("addresses that all respond with success are healthy", async () => {
  await using server = await statusServer();
  expect(await statehouse(["healthcheck", `${server.url}/200`, `${server.url}/204`], {})).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^20[04] \S+\n20[04] \S+\n$/),
    stderr: "",
  });
});

test("an address that begins to respond is healthy", async () => {
  const url = await closedAddress();
  const checked = statehouse(["healthcheck", `${url}/200`], {});
  await sleep(2000);
  await using _server = await statusServer(Number(new URL(url).port));
  expect(await checked).toEqual({ code: 0, stdout: `200 ${url}/200\n`, stderr: "" });
});

test("one address that fails or does not respond is enough to fail, and each is listed", async () => {
  const url = await closedAddress();
  await using server = await statusServer();
  const addresses = [`${server.url}/503`, `${server.url}/200`, `${url}/200`];
  const { code, stdout } = await statehouse(["healthcheck", ...addresses], {});
  expect(code).toBe(1);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines).toContain(`503 ${server.url}/503`);
  expect(lines).toContain(`200 ${server.url}/200`);
  expect(stdout).toContain(`failed ${url}/200: connect ECONNREFUSED`);
});

test("a service that is ready with a failed dependency fails, with the name and the reason", async () => {
  const ok = { status: "ok" };
  const nats = { status: "failed", reason: "authorization violation" };
  const report = (dependencies: object) => JSON.stringify({ status: "ok", dependencies });
  await using broken = await statusServer(0, report({ database: ok, nats }));
  await using whole = await statusServer(0, report({ database: ok }));
  const addresses = [`${broken.url}/200`, `${whole.url}/200`];
  const { code, stdout } = await statehouse(["healthcheck", ...addresses], {});
  expect(code).toBe(1);
  expect(stdout.trimEnd().split("\n").toSorted()).toEqual([
    `200 ${whole.url}/200`,
    `failed ${broken.url}/200: nats: authorization violation`,
  ]);
});
