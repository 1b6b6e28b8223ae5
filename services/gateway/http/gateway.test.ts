import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { conflict, forbidden, invalid, notFound, unauthenticated } from "@statehouse/errors";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import {
  createRpcServer,
  generateAssertionKey,
  type RpcServer,
  type ServiceBinding,
} from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { configSchema } from "../config.ts";
import { type RunningGateway, start } from "../start.ts";

// What stands behind the edge here are protobuf services that answer just enough to see the edge by;
// the real ones are met in test/system.
const logged: string[] = [];
const logger = createLogger({
  service: "gateway",
  destination: { write: (line) => void logged.push(line) },
});
const state = Buffer.from('{"version":4}');
const md5 = createHash("md5").update(state).digest("hex");
const seen = { authenticated: 0, uploads: [] as [string, Buffer][], created: 0, uploaded: false };

const workspace = (id: string) => ({
  workspace: {
    id,
    name: "net",
    organizationName: "acme",
    organizationId: "org-1",
    projectId: "prj-1",
  },
});
const version = () => ({
  id: "sv-1",
  workspaceId: "ws-1",
  status: seen.uploaded ? "finalized" : "pending",
  md5,
});

const methodsOf: [DescService, ServiceBinding<object>["methods"]][] = [
  [
    AuthenticationService,
    {
      authenticate: async ({ token }: { token: string }) => {
        seen.authenticated++;
        const type = token.startsWith("organization") ? "organization" : "user";
        if (!token.endsWith("good")) throw unauthenticated();
        return { principal: { type, id: "user-1", versions: "1" } };
      },
    },
  ],
  [
    WorkspaceService,
    {
      getWorkspace: async ({ workspace: ref }: { workspace?: { by: { value?: unknown } } }) => {
        const id = String(ref?.by.value);
        if (id === "ws-gone") throw notFound("workspace");
        if (id === "ws-broken") throw new Error("a secret cause");
        if (id === "ws-slow") await new Promise((resolve) => setTimeout(resolve, 5000).unref());
        return workspace(id);
      },
      createWorkspace: async () => {
        throw invalid([{ field: "name", detail: "Name has already been taken" }]);
      },
      updateWorkspace: async () => {
        throw forbidden("not_allowed", "a secret refusal");
      },
      deleteWorkspace: async () => {
        throw forbidden("not_allowed", "Only owners may.");
      },
      safeDeleteWorkspace: async () => ({}),
      listWorkspaces: async () => ({ workspaces: [workspace("ws-1").workspace], totalCount: 45 }),
    },
  ],
  [
    WorkspaceLockService,
    {
      lockWorkspace: async ({ workspaceId, reason }: { workspaceId: string; reason: string }) => {
        if (reason === "taken") throw conflict("workspace_locked", "is locked by User Zoë");
        const { workspace: unlocked } = workspace(workspaceId);
        return {
          workspace: { ...unlocked, lock: { holderType: "user", holderId: "user-1", reason } },
        };
      },
    },
  ],
  [
    StateVersionOutputService,
    {
      listCurrentOutputs: async ({ pageSize }: { pageSize: number }) => {
        const names = Array.from({ length: 45 }, (_, n) => `output-${n}`);
        const outputs = (pageSize === 0 ? names : names.slice(0, pageSize)).map((name) => ({
          id: `wsout-${name}`,
          name,
          type: "number",
          valueJson: "12345678901234567890",
        }));
        return { outputs, totalCount: names.length };
      },
    },
  ],
  [
    StateVersionService,
    {
      createStateVersion: async () => {
        seen.created++;
        return {
          stateVersion: version(),
          internalUploadPath: "/v1/object/raw",
          internalJsonUploadPath: "/v1/object/json",
        };
      },
      getStateVersion: async () => ({ stateVersion: version() }),
    },
  ],
];

const bindings = methodsOf.map(([desc, methods]): ServiceBinding<object> => {
  const unasked = async () => {
    throw new Error("not asked for here");
  };
  const all = desc.methods.map(({ localName }) => [localName, methods[localName] ?? unasked]);
  return { desc, methods: Object.fromEntries(all) };
});

let objects: Server;
let services: RpcServer[];
let gateway: RunningGateway;
let base: string;

beforeAll(async () => {
  objects = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    seen.uploads.push([request.url ?? "", Buffer.concat(chunks)]);
    seen.uploaded = true;
    response.end();
  });
  await new Promise<void>((resolve) => objects.listen(0, "127.0.0.1", resolve));
  const { privateJwk, publicJwk } = await generateAssertionKey();
  const serve = (name: string) =>
    createRpcServer({
      name,
      bindings,
      keys: { gateway: [publicJwk] },
      context: async () => ({}),
      logger: createLogger({ service: name, level: "silent" }),
    });
  const [access, workspaces, stateService] = [serve("access"), serve("workspaces"), serve("state")];
  services = [access, workspaces, stateService];
  gateway = await start(
    configSchema.parse({
      HOST: "127.0.0.1",
      PORT: 0,
      OPS_PORT: 0,
      PUBLIC_URL: "http://statehouse.test",
      STATE_OBJECT_URL: `http://127.0.0.1:${(objects.address() as AddressInfo).port}`,
      ASSERTION_PRIVATE_KEY: JSON.stringify(privateJwk),
      MAX_BODY_BYTES: 10_000,
      REQUEST_TIMEOUT: 3,
    }),
    {
      logger,
      channels: {
        access: access.inProcess(),
        workspaces: workspaces.inProcess(),
        state: stateService.inProcess(),
      },
    },
  );
  base = `http://127.0.0.1:${gateway.ports?.http}`;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const service of services) await service[Symbol.asyncDispose]();
  objects.close();
});
beforeEach(() => {
  Object.assign(seen, { authenticated: 0, uploads: [], created: 0, uploaded: false });
  logged.length = 0;
});

async function ask(method: string, path: string, body?: unknown, token = "good") {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json:
      text && response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : undefined,
  };
}
const error = (status: string, title: string) => ({ errors: [{ status, title }] });

describe("what clients ask first", () => {
  test("discovery is plain JSON, without a token", async () => {
    const { headers, json } = await ask("GET", "/.well-known/terraform.json", undefined, "bad");
    expect(headers.get("content-type")).toBe("application/json");
    expect(json).toMatchObject({ "tfe.v2": "/api/v2/", "state.v2": "/api/v2/" });
    expect(seen.authenticated).toBe(0);
  });
  test("ping is 204 with the headers that clients decide by", async () => {
    const { status, headers } = await ask("GET", "/api/v2/ping", undefined, "bad");
    expect(status).toBe(204);
    expect(headers.get("tfp-api-version")).toBe("2.6");
    expect(headers.get("tfp-appname")).toBe("Terraform Enterprise");
    expect(headers.get("x-ratelimit-limit")).toBeNull();
  });
});

describe("the edge", () => {
  test("authenticates every request, and answers JSON:API", async () => {
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
  test("answers an unknown address 404 and another method 405 with Allow, in JSON", async () => {
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
  ])("finds nothing at the address %s", async (path) => {
    expect((await ask("GET", path)).status).toBe(404);
  });
  test("refuses a NUL in a parameter", async () => {
    const path = "/api/v2/organizations/acme/workspaces?search%5Bname%5D=a%00";
    expect((await ask("GET", path)).status).toBe(400);
  });
  test("refuses broken JSON with 400, what is too large with 413, and lives on", async () => {
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
  test("refuses characters that no column takes, with their pointer", async () => {
    const { status, json } = await ask("POST", "/api/v2/organizations/acme/workspaces", {
      data: { type: "workspaces", attributes: { name: "a\0b" } },
    });
    expect(status).toBe(422);
    expect(json.errors[0].source.pointer).toBe("/data/attributes/name");
  });
  test("shows problems of fields from the schema and from the service alike", async () => {
    const path = "/api/v2/organizations/acme/workspaces";
    const missing = await ask("POST", path, { data: { type: "workspaces" } });
    const taken = await ask("POST", path, {
      data: { type: "workspaces", attributes: { name: "a" } },
    });
    for (const [answer, detail] of [
      [missing, "Name is required"],
      [taken, "Name has already been taken"],
    ] as const) {
      expect(answer.status).toBe(422);
      expect(answer.json.errors).toEqual([
        {
          status: "422",
          title: "invalid attribute",
          detail,
          source: { pointer: "/data/attributes/name" },
        },
      ]);
    }
  });
  test("shows forbidden as 404 except where 403 is declared", async () => {
    const hidden = await ask("PATCH", "/api/v2/workspaces/ws-1", { data: { type: "workspaces" } });
    expect(hidden.status).toBe(404);
    expect(hidden.text).not.toContain("secret");
    expect((await ask("DELETE", "/api/v2/workspaces/ws-1", { data: [] })).status).toBe(403);
  });
  test("says nothing of what broke but a trace id, which the log has too", async () => {
    const { status, headers, text } = await ask("GET", "/api/v2/workspaces/ws-broken");
    expect(status).toBe(500);
    expect(text).not.toContain("secret");
    const trace = headers.get("x-request-id") ?? "";
    expect(text).toContain(trace);
    expect(logged.join()).toContain(trace);
  });
  test("continues the trace that a request brings", async () => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const response = await fetch(`${base}/api/v2/ping`, {
      headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` },
    });
    expect(response.headers.get("x-request-id")).toBe(trace);
  });
  test("gives up after its time with 504", async () => {
    expect(await ask("GET", "/api/v2/workspaces/ws-slow")).toMatchObject({
      status: 504,
      json: error("504", "gateway timeout"),
    });
  });
  test("logs the route and never the token or the address", async () => {
    await ask("GET", "/api/v2/workspaces/ws-1?token=hush", undefined, "hush-good");
    expect(logged.join()).toContain("/api/v2/workspaces/:workspaceId");
    expect(logged.join()).not.toContain("hush");
  });
});

describe("lists and includes", () => {
  test("have their page in meta and links", async () => {
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

describe("the outputs of a workspace", () => {
  const path = "/api/v2/workspaces/ws-1/current-state-version-outputs";
  test("are all there where no page is asked for: the CLI asks once", async () => {
    const { json } = await ask("GET", path);
    expect(json.data).toHaveLength(45);
    expect(json.meta.pagination).toMatchObject({ "total-pages": 1, "total-count": 45 });
  });
  test("have pages where one is asked for", async () => {
    const { json } = await ask("GET", `${path}?page%5Bsize%5D=10`);
    expect(json.data).toHaveLength(10);
    expect(json.meta.pagination).toMatchObject({ "total-pages": 5 });
  });
  test("keep every digit of a number", async () => {
    expect((await ask("GET", path)).text).toContain('"value":12345678901234567890');
  });
});

describe("a lock", () => {
  test.each([
    [undefined, ""],
    [{ reason: "x" }, "x"],
    [{ data: { type: "", attributes: { reason: "x" } } }, "x"],
    [{ data: { type: "", attributes: { reason: null } } }, ""],
  ])("takes its reason from %j", async (body, reason) => {
    const { status, json } = await ask("POST", "/api/v2/workspaces/ws-1/actions/lock", body);
    expect(status).toBe(200);
    expect(json.data.attributes).toMatchObject({ locked: true, "locked-reason": reason });
    expect(json.data.relationships["locked-by"].data).toEqual({ type: "users", id: "user-1" });
  });
  test("that is held answers 409 and names the holder", async () => {
    const { status, json } = await ask("POST", "/api/v2/workspaces/ws-1/actions/lock", {
      reason: "taken",
    });
    expect(status).toBe(409);
    expect(json.errors[0].detail).toContain("is locked by User Zoë");
  });
});

describe("inline state", () => {
  const path = "/api/v2/workspaces/ws-1/state-versions";
  const body = (attributes: object) => ({
    data: { type: "state-versions", attributes: { serial: 1, md5, ...attributes } },
  });
  const base64 = state.toString("base64");

  test("takes the road of an upload, and the answer is the finalized version", async () => {
    const { status, json } = await ask("POST", path, body({ state: base64 }));
    expect(status).toBe(201);
    expect(json.data.attributes).toMatchObject({ status: "finalized" });
    expect(seen.uploads).toEqual([["/v1/object/raw", state]]);
  });
  test("comes with its JSON form, which is put first: the raw one finalizes", async () => {
    const json = Buffer.from("{}").toString("base64");
    expect((await ask("POST", path, body({ state: base64, "json-state": json }))).status).toBe(201);
    expect(seen.uploads.map(([url]) => url)).toEqual(["/v1/object/json", "/v1/object/raw"]);
  });
  test("is not put again when the version has it already", async () => {
    seen.uploaded = true;
    expect((await ask("POST", path, body({ state: base64 }))).status).toBe(201);
    expect(seen.uploads).toEqual([]);
  });
  test("is optional", async () => {
    const { status, json } = await ask("POST", path, body({}));
    expect(status).toBe(201);
    expect(json.data.attributes).toMatchObject({ status: "pending" });
  });
  test.each([
    [{ state: base64, md5: "0".repeat(32) }, "/data/attributes/md5"],
    [{ state: "***" }, "/data/attributes/state"],
    [{ state: "" }, "/data/attributes/state"],
    [{ "json-state": "" }, "/data/attributes/json-state"],
    [{ md5: "short" }, "/data/attributes/md5"],
    [{ serial: "1" }, "/data/attributes/serial"],
    [{ serial: -1 }, "/data/attributes/serial"],
    [{ "json-state-outputs": "*" }, "/data/attributes/json-state-outputs"],
  ])("that is wrong (%j) creates nothing", async (attributes, pointer) => {
    const { status, json } = await ask("POST", path, body(attributes));
    expect(status).toBe(422);
    expect(json.errors.map((e: { source: { pointer: string } }) => e.source.pointer)).toEqual([
      pointer,
    ]);
    expect(seen.created).toBe(0);
  });
  test("cannot be created with an organization's token", async () => {
    expect((await ask("POST", path, body({}), "organization-good")).status).toBe(404);
  });
});

test("readiness names the services and asks for none of them", async () => {
  const ready = await fetch(`http://127.0.0.1:${gateway.ports?.ops}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({
    dependencies: {
      access: { status: "ok" },
      workspaces: { status: "ok" },
      state: { status: "ok" },
    },
  });
});
