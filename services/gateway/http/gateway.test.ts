import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { ask, fetchFrom, logged, seen, useGateway } from "../test/use-gateway.ts";

useGateway();

const error = (status: string, title: string) => ({ errors: [{ status, title }] });

describe("the first requests of clients", () => {
  test("discovery returns plain JSON without a token", async () => {
    proves("Discovery/discovery");
    const { headers, json } = await ask("GET", "/.well-known/terraform.json", undefined, "bad");
    expect(headers.get("content-type")).toBe("application/json");
    expect(json).toMatchObject({ "tfe.v2": "/api/v2/", "state.v2": "/api/v2/" });
    expect(seen.authenticated).toBe(0);
  });
  test("ping returns 204 with the headers that clients depend on", async () => {
    proves("Discovery/ping asks no other service");
    const { status, headers } = await ask("GET", "/api/v2/ping", undefined, "bad");
    expect(status).toBe(204);
    expect(headers.get("tfp-api-version")).toBe("2.6");
    expect(headers.get("tfp-appname")).toBe("Terraform Enterprise");
    expect(headers.get("x-ratelimit-limit")).toBeNull();
  });
});

describe("the gateway", () => {
  test("authenticates every request and returns JSON:API", async () => {
    for (let n = 0; n < 2; n++) {
      const { status, headers, json } = await ask("GET", "/api/v2/workspaces/ws-1");
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe("application/vnd.api+json");
      expect(json.data).toMatchObject({ id: "ws-1", type: "workspaces" });
    }
    expect(seen.authenticated).toBe(2);
  });
  test.each(["bad", ""])("refuses the token %j with 401", async (token) => {
    expect(await ask("GET", "/api/v2/workspaces/ws-1", undefined, token)).toMatchObject({
      status: 401,
      json: error("401", "unauthorized"),
    });
  });
  test("returns 404 for an unknown path and 405 with Allow for another method, in JSON", async () => {
    expect(await ask("GET", "/api/v2/nothing")).toMatchObject({
      status: 404,
      json: error("404", "not found"),
    });
    const wrong = await ask("PUT", "/api/v2/workspaces/ws-1");
    expect(wrong).toMatchObject({ status: 405, json: error("405", "method not allowed") });
    expect(wrong.headers.get("allow")).toBe("GET, PATCH, DELETE");
  });
  test.each([
    "/api/v2/workspaces/%zz",
    "/api/v2/workspaces/a%00b",
    `/api/v2/workspaces/${"a".repeat(5000)}`,
    "/api/v2/workspaces/",
    "//",
  ])("returns 404 for the path %s", async (path) => {
    expect((await ask("GET", path)).status).toBe(404);
  });
  test("names the remedy if the proxy routes state bytes to the gateway", async () => {
    const { status, json } = await ask("PUT", "/v1/object/token");
    expect({ status, json }).toMatchObject({ status: 404, json: error("404", "not found") });
    expect(JSON.stringify(json)).toContain("route /v1/object/ to it");
  });
  test("refuses a NUL in a parameter", async () => {
    const path = "/api/v2/organizations/acme/workspaces?search%5Bname%5D=a%00";
    expect((await ask("GET", path)).status).toBe(400);
  });
  test("returns 400 for invalid JSON and 413 for a large body, and keeps serving", async () => {
    const path = "/api/v2/organizations/acme/workspaces";
    expect(await ask("POST", path, "{")).toMatchObject({
      status: 400,
      json: error("400", "bad request"),
    });
    expect(await ask("POST", path, `"${"x".repeat(1_000_000)}"`)).toMatchObject({
      status: 413,
      json: error("413", "payload too large"),
    });
    expect((await ask("GET", "/api/v2/workspaces/ws-1")).status).toBe(200);
  });
  test("refuses characters that no column stores, with their pointer", async () => {
    proves("JSON:API/bodies");
    const { status, json } = await ask("POST", "/api/v2/organizations/acme/workspaces", {
      data: { type: "workspaces", attributes: { name: "a\0b" } },
    });
    expect(status).toBe(422);
    expect(json.errors[0].source.pointer).toBe("/data/attributes/name");
  });
  test("reports problems of the schema and of the service together", async () => {
    proves("JSON:API/errors");
    const path = "/api/v2/organizations/acme/workspaces";
    const missing = await ask("POST", path, { data: { type: "workspaces" } });
    expect(seen.validated).toBe(true);
    const taken = await ask("POST", path, {
      data: { type: "workspaces", attributes: { name: "a" } },
    });
    expect(seen.validated).toBe(false);
    const problem = (detail: string, pointer: string) => ({
      status: "422",
      code: "invalid",
      title: "invalid attribute",
      detail,
      source: { pointer: `/data/attributes/${pointer}` },
    });
    for (const [answer, detail] of [
      [missing, "Name is required"],
      [taken, "Name has already been taken"],
    ] as const) {
      expect(answer.status).toBe(422);
      expect(answer.json.errors).toEqual([
        problem(detail, "name"),
        problem("Vcs app installation id is invalid", "vcs-repo/vcs-app-installation-id"),
      ]);
    }
  });
  test("returns 404 for forbidden unless the route declares 403", async () => {
    const hidden = await ask("PATCH", "/api/v2/workspaces/ws-1", { data: { type: "workspaces" } });
    expect(hidden.status).toBe(404);
    expect(hidden.text).not.toContain("secret");
    expect((await ask("DELETE", "/api/v2/workspaces/ws-1", { data: [] })).status).toBe(403);
  });
  test("returns only a trace id for an internal error; the log contains it too", async () => {
    const { status, headers, text } = await ask("GET", "/api/v2/workspaces/ws-broken");
    expect(status).toBe(500);
    expect(text).not.toContain("secret");
    const trace = headers.get("x-request-id") ?? "";
    expect(text).toContain(trace);
    expect(logged.join()).toContain(trace);
  });
  test("continues the trace of a request", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const response = await fetchFrom("http", "/api/v2/ping", {
      traceparent: `00-${trace}-b7ad6b7169203331-01`,
    });
    expect(response.headers.get("x-request-id")).toBe(trace);
  });
  test("returns 504 after its time limit", async () => {
    expect(await ask("GET", "/api/v2/workspaces/ws-slow")).toMatchObject({
      status: 504,
      json: error("504", "gateway timeout"),
    });
  });
  test("logs the route and never the token or the path", async () => {
    await ask("GET", "/api/v2/workspaces/ws-1?token=hush", undefined, "hush-good");
    expect(logged.join()).toContain("/api/v2/workspaces/:workspaceId");
    expect(logged.join()).not.toContain("hush");
  });
});

describe("lists and includes", () => {
  test("have paging in meta and links", async () => {
    const { json } = await ask(
      "GET",
      "/api/v2/organizations/acme/workspaces?page%5Bnumber%5D=2&junk=1",
    );
    expect(json.meta.pagination).toMatchObject({
      "current-page": 2,
      "total-pages": 3,
      "total-count": 45,
    });
    expect(json.links.next).toBe(
      "http://statehouse.test/api/v2/organizations/acme/workspaces?page%5Bnumber%5D=3&junk=1&page%5Bsize%5D=20",
    );
  });
  test.each(["0", "-1", "x"])("refuse page size %s with 400", async (size) => {
    const path = `/api/v2/organizations/acme/workspaces?page%5Bsize%5D=${size}`;
    expect((await ask("GET", path)).status).toBe(400);
  });
  test("refuse an unknown include with 400", async () => {
    const { status, json } = await ask("GET", "/api/v2/workspaces/ws-1?include=secrets");
    expect(status).toBe(400);
    expect(json.errors[0].detail).toContain("include parameter");
  });
});

test("readiness reports the services and requires none of them", async () => {
  const ready = await fetchFrom("ops", "/readyz?verbose");
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({
    dependencies: {
      access: { status: "ok" },
      workspaces: { status: "ok" },
      state: { status: "ok" },
    },
  });
});
