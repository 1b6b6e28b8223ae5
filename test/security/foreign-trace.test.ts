import { describe, expect, test } from "vitest";
import { startStack } from "../stack/stack.ts";
import { useFixture, useStack } from "../system/fixture.ts";

const victims = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const headers = { traceparent: `00-${victims}-bbbbbbbbbbbbbbbb-01` };

describe("a client", () => {
  const fixture = useFixture();
  test("does not choose the id of its request", async () => {
    const answer = await fixture().owner.api.send("GET", "/account/details", undefined, headers);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.headers.get("x-request-id")).not.toBe(victims);
  });
  test.each(["/healthz", "/readyz", "/metrics"])("does not see %s of one process", async (path) => {
    expect((await fixture().nobody.get(`${fixture().url}${path}`)).status).toBe(404);
  });
});

describe("a trusted proxy", () => {
  const fixture = useStack(() => startStack({ settings: { TRUSTED_PROXIES: "127.0.0.0/8" } }));
  test("continues its trace", async () => {
    const answer = await fixture().owner.api.send("GET", "/account/details", undefined, headers);
    expect(answer.headers.get("x-request-id")).toBe(victims);
  });
});
