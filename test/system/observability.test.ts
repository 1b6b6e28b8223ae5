import { randomBytes } from "node:crypto";
import { serviceNames } from "@statehouse/standalone/environments";
import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Published, published } from "../stack/published.ts";
import { startProcesses } from "../stack/stack.ts";
import { startTraceCollector, type TraceCollector } from "../stack/traces.ts";
import { newUser, newWorkspace, useStack } from "./fixture.ts";
import { smoke, smokeMarkers } from "./smoke.ts";

let collector: TraceCollector;
let bus: Published;

const fixture = useStack(async () => {
  collector = await startTraceCollector();
  return startProcesses({
    settings: {
      LOG_LEVEL: "debug",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      TRUSTED_PROXIES: "127.0.0.1",
      OTEL_BSP_SCHEDULE_DELAY: "200",
    },
  });
});
beforeAll(() => {
  bus = published(fixture().stack.nats);
});
afterAll(async () => {
  await bus[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

const newTrace = () => {
  const traceId = randomBytes(16).toString("hex");
  return {
    traceId,
    headers: { traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-01` },
  };
};

interface Line {
  name: string;
  trace_id?: string;
}
const linesOf = (name: (typeof serviceNames)[number]): Line[] =>
  fixture()
    .stack.processes[name].output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

test("one request is one trace: HTTP, calls, SQL, object store and events", async () => {
  const { traceId, headers } = newTrace();
  const { stateVersionId } = await smoke(fixture(), headers);
  const roots = await waitFor(() => {
    const found = collector.spansOf(traceId);
    const services = new Set(found.map(({ service }) => service));
    const names = found.map(({ name }) => name).join("\n");
    const missing = [
      /^POST \/api\/v2\/workspaces\/:workspaceId\/state-versions$/m,
      /^PUT \/v1\/object\/:token$/m,
      /StateVersionService\/CreateStateVersion/,
      /WorkspaceLockService\/GetLock/,
      /AuthenticationService\/Authenticate/,
      /^(select|insert|begin|update)\b/im,
      /^blob store put$/m,
      /^publish statehouse\.state\.state-version\.finalized\.v1$/m,
      /^process statehouse\.state\.workspace-state\.changed\.v1$/m,
    ].filter((name) => !name.test(names));
    const silent = serviceNames.filter((name) => !services.has(name));
    if (missing.length + silent.length > 0) {
      throw new Error(`no span yet of ${[...silent, ...missing].join(", ")} in:\n${names}`);
    }
    const known = new Set(found.map(({ spanId }) => spanId));
    const roots = found.filter(({ parentSpanId }) => !known.has(parentSpanId));
    const above = roots.map(({ name }) => name);
    if (above.length > 2)
      throw new Error(`spans that are not yet below another one: ${above.join(", ")}`);
    return above;
  });
  // Only the two requests that carried the trace are roots; all other spans are their descendants.
  expect(roots.toSorted()).toEqual([
    "POST /api/v2/workspaces/:workspaceId/state-versions",
    "PUT /v1/object/:token",
  ]);

  const events = await waitFor(() => {
    const events = bus.about("stateVersionId", stateVersionId, "created.v1", "finalized.v1");
    return events.length === 2 && events;
  });
  for (const event of events) expect(event.traceparent?.split("-")[1]).toBe(traceId);
});

test("the response names the trace id, which the logs of all processes contain", async () => {
  const { owner } = fixture();
  const { traceId, headers } = newTrace();
  const { id } = await newWorkspace(fixture());
  await owner.api.post(`/workspaces/${id}/actions/lock`);
  const unlocked = await owner.api.send(
    "POST",
    `/workspaces/${id}/actions/unlock`,
    undefined,
    headers,
  );
  expect(unlocked.status).toBe(200);
  expect(unlocked.headers.get("x-request-id")).toBe(traceId);
  for (const name of serviceNames) {
    await waitFor(() => linesOf(name).some(({ trace_id }) => trace_id === traceId), {
      what: `the trace in the log of ${name}`,
    });
  }
});

test("a request without a valid traceparent starts a trace", async () => {
  const { owner } = fixture();
  const seen = new Set<string>();
  for (const traceparent of [undefined, "nonsense", `00-${"0".repeat(32)}-${"0".repeat(16)}-01`]) {
    const answer = await owner.api.send(
      "GET",
      "/account/details",
      undefined,
      traceparent === undefined ? {} : { traceparent },
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    seen.add(answer.headers.get("x-request-id") ?? "");
  }
  expect(seen.size).toBe(3);
});

test("logs and traces never contain a token, an upload URL, a state or an output value", async () => {
  const { owner, url } = fixture();
  const person = await newUser(fixture().stack);
  const made = await owner.api.post(`/users/${owner.id}/authentication-tokens`, {
    data: { type: "authentication-tokens", attributes: {} },
  });
  const secret: string = made.body.data.attributes.token;
  await fetch(`${url}/api/v2/account/details?token=${secret}`);
  await fetch(`${url}/nowhere/${secret}`);
  await smoke(fixture());
  await waitFor(() =>
    linesOf("state").some((line) => JSON.stringify(line).includes("upload stored")),
  );
  const everything = [
    ...serviceNames.map((name) => fixture().stack.processes[name].output()),
    collector.text(),
  ].join("\n");
  const forbidden = [
    owner.token,
    person.token,
    secret,
    smokeMarkers.state,
    smokeMarkers.output,
    "Bearer ",
    // How the payload of every upload token begins, and how every assertion begins.
    Buffer.from("ws-").toString("base64url").slice(0, 4),
    "eyJ",
  ];
  for (const text of forbidden) expect(everything.includes(text), text).toBe(false);
  expect(everything).not.toMatch(/\/v1\/object\/(?!:)[\w-]+\./);
});

test("metrics count requests by route and status, never by path", async () => {
  const { owner, stack } = fixture();
  const { id } = await newWorkspace(fixture());
  await owner.api.get(`/workspaces/${id}`);
  const response = await fetch(`http://127.0.0.1:${stack.environments.gateway.OPS_PORT}/metrics`);
  const text = await response.text();
  expect(text).toMatch(
    /statehouse_http_request_duration_seconds_count\{[^}]*route="\/api\/v2\/workspaces\/:workspaceId"[^}]*\}/,
  );
  expect(text).not.toContain(id);
});
