import { createServer } from "node:http";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

/** Starts an operations port whose readiness endpoint returns this status and text. */
async function opsServer(status: number, text: string) {
  const requested: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = String(typeof address === "object" && address ? address.port : 0);
  return {
    port,
    requested,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

test.each(["access", "workspaces", "state", "gateway"])(
  "of a ready %s it succeeds",
  async (name) => {
    await using server = await opsServer(200, "ready");
    expect(await statehouse(["healthcheck", name], { OPS_PORT: server.port })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(server.requested).toEqual(["/readyz"]);
  },
);

test("the health check of a service that is not ready prints the reason", async () => {
  await using server = await opsServer(503, "database: migration 0001_baseline is missing");
  expect(await statehouse(["healthcheck", "state"], { OPS_PORT: server.port })).toEqual({
    code: 1,
    stdout: "",
    stderr: "database: migration 0001_baseline is missing\n",
  });
});

test("the health check of a service that does not run fails in one sentence", async () => {
  const { port } = await opsServer(200, "").then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server;
  });
  const { code, stderr } = await statehouse(["healthcheck", "state"], { OPS_PORT: port });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The health check[^\n]*\n$/);
});

test("its argument is one of the services", async () => {
  for (const args of [["healthcheck"], ["healthcheck", "toString"]]) {
    expect(await statehouse(args, {})).toEqual({
      code: 1,
      stdout: "",
      stderr: "The first argument must be one of access, workspaces, state, gateway.\n",
    });
  }
});
