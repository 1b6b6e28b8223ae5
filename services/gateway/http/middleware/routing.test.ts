import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger, edition } from "@statehouse/runtime";
import Koa from "koa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Method, route } from "../route.ts";
import { errors } from "./errors.ts";
import { noRoute, readablePath, routing } from "./routing.ts";
import type { RequestState } from "./state.ts";

const declare = (method: Method, path: string) =>
  route({ method, path, summary: "", success: [204], failures: [], handle: () => {} });

const routes = [
  declare("GET", "/things/:thingId"),
  declare("GET", "/things/:thingId/parts"),
  declare("GET", "/things/special"),
  declare("PATCH", "/things/:thingId"),
];

// Each route responds with its path and the parameters that the router found.
const matching = routing(routes, edition("self-hosted"), ({ path }) => [
  (ctx) => {
    ctx.body = { path, params: ctx.params };
  },
]);
const app = new Koa<RequestState>();
app.use(errors(createLogger({ service: "gateway", level: "silent" })));
app.use(readablePath);
app.use(matching);
app.use(noRoute);
const server = createServer(app.callback());

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => void server.close());

async function send(path: string, method = "GET") {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/api/v2${path}`, { method });
  const text = await response.text();
  const { status, headers } = response;
  return { status, allow: headers.get("allow"), json: text ? JSON.parse(text) : undefined };
}

test("static segments win over parameters, regardless of the order of declaration", async () => {
  expect((await send("/things/special")).json).toEqual({
    path: "/api/v2/things/special",
    params: {},
  });
  expect((await send("/things/other")).json).toEqual({
    path: "/api/v2/things/:thingId",
    params: { thingId: "other" },
  });
});

test("parameters are decoded, and a trailing slash is accepted", async () => {
  const { json } = await send("/things/a%2Fb%20%C3%A9/");
  expect(json.params).toEqual({ thingId: "a/b é" });
});

test("paths distinguish upper and lower case", async () => {
  expect((await send("/Things/other")).status).toBe(404);
});

test.each([
  "/things/%zz",
  "/things/%",
  "/things/%ff",
  "/things/a%00b",
  `/things/${"a".repeat(1001)}`,
  "/things/",
  "/nothing",
])("the path %s returns 404 in JSON", async (path) => {
  const { status, json } = await send(path);
  expect(status).toBe(404);
  expect(json.errors).toMatchObject([{ status: "404", title: "not found" }]);
});

test.each(["POST", "PUT", "OPTIONS", "PROPFIND"])(
  "%s on a path with other methods returns 405 in JSON and lists them",
  async (method) => {
    const { status, allow, json } = await send("/things/one", method);
    expect(status).toBe(405);
    expect(allow).toBe("GET, PATCH");
    expect(json.errors).toMatchObject([{ status: "405", title: "method not allowed" }]);
    expect((await send("/nothing", method)).status).toBe(404);
  },
);

test("HEAD returns the response of GET without the body", async () => {
  expect(await send("/things/one", "HEAD")).toMatchObject({ status: 200, json: undefined });
});
