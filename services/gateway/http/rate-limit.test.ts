import { describe, expect, test } from "vitest";
import { configSchema } from "../config.ts";
import { ask, fetchFrom, logged, seen, useGateway } from "../test/use-gateway.ts";

const FAILURES = 5;
useGateway({
  RATE_LIMIT: "30",
  FAILED_AUTHENTICATION_LIMIT: String(FAILURES),
  CORS_ORIGINS: "https://console.example.com",
});

const path = "/api/v2/workspaces/ws-1";
const from = (address: string, token: string) =>
  ask("GET", path, undefined, token, { "x-forwarded-for": address });

describe("the limit of a token", () => {
  test("refuses what exceeds it with 429 and the headers that public clients read", async () => {
    const burst = () =>
      Promise.all(Array.from({ length: 60 }, () => from("192.0.2.1", "busy-good")));
    const answers = await burst();
    // A slow machine may send the first requests so slowly that the bucket does not become empty.
    while (answers.length < 600 && answers.every(({ status }) => status !== 429)) {
      answers.push(...(await burst()));
    }
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    // More requests than the bucket holds can succeed, because tokens are added while the requests arrive.
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(30);
    for (const { headers, json } of refused) {
      expect(json.errors).toMatchObject([{ status: "429", code: "rate_limited" }]);
      expect(headers.get("retry-after")).toBe("1");
      expect(headers.get("x-ratelimit-limit")).toBe("30");
      expect(headers.get("x-ratelimit-remaining")).toBe("0");
      const reset = Number(headers.get("x-ratelimit-reset"));
      expect(reset).toBeGreaterThan(0);
      expect(reset).toBeLessThanOrEqual(0.034);
    }
    expect((await from("192.0.2.1", "other-good")).status).toBe(200);
  });
  test("is in the response of ping, from which clients set their pace", async () => {
    const { headers } = await fetchFrom("http", "/api/v2/ping");
    expect(headers.get("x-ratelimit-limit")).toBe("30");
    expect(headers.get("x-ratelimit-remaining")).toBe("30");
  });
});

describe("the limit of invalid tokens", () => {
  test("refuses further unknown tokens of the address without a call of the access service", async () => {
    const address = "192.0.2.2";
    expect((await from(address, "known-good")).status).toBe(200);
    for (let n = 0; n < FAILURES; n++) expect((await from(address, `wrong-${n}`)).status).toBe(401);
    const before = seen.authenticated;
    const refused = await from(address, "wrong-again");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await from(address, "unseen-good")).status).toBe(429);
    expect(seen.authenticated).toBe(before);
    // The limit does not apply to a credential that was valid before, nor to requests from another address: a wrong
    // token from there gets 401 instead of 429.
    expect((await from(address, "known-good")).status).toBe(200);
    expect((await from("192.0.2.3", "wrong")).status).toBe(401);
  });
  test("does not refuse a client that begins with more concurrent requests than may fail", async () => {
    const first = await Promise.all(
      Array.from({ length: 3 * FAILURES }, () => from("192.0.2.5", "eager-good")),
    );
    expect(first.map(({ status }) => status)).toEqual(first.map(() => 200));
    const wrong = await Promise.all(
      Array.from({ length: 3 * FAILURES }, () => from("192.0.2.6", "eager-wrong")),
    );
    expect(wrong.filter(({ status }) => status === 401)).toHaveLength(FAILURES);
  });
  test("counts concurrent requests and does not count valid tokens", async () => {
    const valid = await Promise.all(
      Array.from({ length: FAILURES }, (_, n) => from("192.0.2.4", `${n}-good`)),
    );
    expect(valid.map(({ status }) => status)).toEqual(valid.map(() => 200));
    const invalid = await Promise.all(
      Array.from({ length: 3 * FAILURES }, (_, n) => from("192.0.2.4", `wrong-${n}`)),
    );
    expect(invalid.filter(({ status }) => status === 401)).toHaveLength(FAILURES);
  });
});

describe("pages of other origins", () => {
  const origin = "https://console.example.com";
  const preflight = (from: string) =>
    ask("OPTIONS", path, undefined, "good", {
      origin: from,
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    });
  test("may call the API if their origin is allowed", async () => {
    const allowed = await preflight(origin);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-origin")).toBe(origin);
    expect(allowed.headers.get("access-control-allow-headers")).toContain("Authorization");
    expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
    for (const [token, vary] of [
      ["console-good", "Origin, Authorization, Accept, Accept-Encoding"],
      ["bad", "Origin"],
    ] as const) {
      const { headers } = await ask("GET", path, undefined, token, { origin });
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      expect(headers.get("access-control-expose-headers")).toContain("ETag");
      expect(headers.get("vary")).toBe(vary);
    }
  });
  test("may not call it otherwise", async () => {
    for (const foreign of ["https://example.com", `${origin}.example.org`, "null"]) {
      const refused = await preflight(foreign);
      expect(refused.status).toBe(405);
      expect(refused.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe("the settings", () => {
  const parse = (settings: Record<string, string>) =>
    configSchema.safeParse({
      PUBLIC_URL: "http://statehouse.test",
      ASSERTION_PRIVATE_KEY: "{}",
      ...settings,
    });
  const messages = (settings: Record<string, string>) =>
    (parse(settings).error?.issues ?? []).map(({ path, message }) => `${path} ${message}`);
  test.each([
    ["RATE_LIMIT", "29", "must be 0 or at least 30: clients such as go-tfe"],
    ["RATE_LIMIT", "-1", "must be 0 or at least 30: clients such as go-tfe"],
    ["CORS_ORIGINS", "*", "must be origins such as https://console.example.com"],
    ["CORS_ORIGINS", "https://a.example/path", "must be origins such as"],
  ])("refuse %s=%s at start", (name, value, message) => {
    expect(messages({ [name]: value }).join()).toContain(`${name} ${message}`);
  });
  test.each([
    ["RATE_LIMIT", "0"],
    ["RATE_LIMIT", "30"],
    ["CORS_ORIGINS", "https://a.example, http://localhost:3000"],
  ])("accept %s=%s", (name, value) => {
    expect(messages({ [name]: value }).join()).not.toContain(name);
  });
});

test("nothing is logged about proxies while they are trusted", async () => {
  expect((await from("192.0.2.5", "trusted-good")).status).toBe(200);
  expect(logged.join()).toContain("192.0.2.5");
  expect(logged.join()).not.toContain("TRUSTED_PROXIES");
});
