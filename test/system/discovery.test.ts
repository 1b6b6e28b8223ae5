import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { useFixture } from "./fixture.ts";

const fixture = useFixture();

test("a client that knows only the host finds the API, as exactly application/json", async () => {
  proves("Discovery/discovery");
  const { anonymous, url } = fixture();
  const answer = await anonymous.get(`${url}/.well-known/terraform.json`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.body).toEqual({
    "tfe.v2": "/api/v2/",
    "tfe.v2.1": "/api/v2/",
    "tfe.v2.2": "/api/v2/",
    "state.v2": "/api/v2/",
    "modules.v1": "/api/registry/v1/modules/",
  });
});

test("the registry of modules has none", async () => {
  proves("Real clients/4");
  const { anonymous, owner, url } = fixture();
  for (const { get } of [anonymous, owner.api]) {
    const { body } = await get(`${url}/.well-known/terraform.json`);
    const modules = new URL(body["modules.v1"], url).href;
    for (const path of ["acme/network/aws/versions", "acme/network/aws/1.0.0/download"]) {
      const answer = await get(`${modules}${path}`);
      expect(answer.status).toBe(404);
      expect(answer.body.errors[0]).toMatchObject({ status: "404" });
    }
  }
});

test("ping returns the API version and the edition without authentication", async () => {
  proves("Discovery/ping");
  const answer = await fixture().anonymous.get("/ping");
  expect(answer.status).toBe(204);
  expect(answer.headers.get("tfp-api-version")).toBe("2.6");
  expect(answer.headers.get("tfp-appname")).toBe("Terraform Enterprise");
  expect(answer.body).toBe("");
});

test("no response contains rate limit headers that would throttle clients", async () => {
  proves("Access limits/rate limits", "Discovery/rate limits");
  const { anonymous, owner } = fixture();
  for (const answer of [await anonymous.get("/ping"), await owner.api.get("/organizations")]) {
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
    expect(answer.headers.get("x-ratelimit-reset")).toBeNull();
  }
});

test("the page that the login command opens exists", async () => {
  proves("Discovery/the page that login sends people to");
  const { anonymous, url } = fixture();
  const answer = await anonymous.get(`${url}/app/settings/tokens?source=terraform-login`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toContain("text/html");
  expect(answer.body).toContain("authentication-tokens");
});

test("the entitlement set makes both backends of the CLI run locally", async () => {
  proves("Discovery/entitlement-set", "Organizations/entitlement-set");
  const { owner, reader, organization } = fixture();
  for (const { api } of [owner, reader]) {
    const answer = await api.get(`/organizations/${organization}/entitlement-set`);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      id: organization,
      type: "entitlement-sets",
      attributes: { operations: false, "state-storage": true },
    });
  }
});

test("the entitlement set of an unknown or foreign organization is not found", async () => {
  const { owner, outsider } = fixture();
  for (const name of ["no-such-organization", outsider.organization]) {
    expect((await owner.api.get(`/organizations/${name}/entitlement-set`)).status).toBe(404);
  }
});

test("the OpenAPI document needs no token and is sent once to a client that keeps it", async () => {
  const { anonymous, url } = fixture();
  const address = `${url}/openapi/stable.json`;
  const first = await anonymous.get(address);
  expect(first.status).toBe(200);
  expect(first.headers.get("content-type")).toBe("application/json");
  expect(first.body.openapi).toBe("3.1.0");
  expect(first.body.paths).toHaveProperty("/openapi/stable.json");
  const tag = first.headers.get("etag") ?? "";
  const again = await anonymous.send("GET", address, undefined, { "if-none-match": tag });
  expect(again.status).toBe(304);
  expect(again.body).toBe("");
  const other = await anonymous.send("GET", address, undefined, { "if-none-match": '"other"' });
  expect(other.status).toBe(200);
});

test("the reference page loads only from this server", async () => {
  const { anonymous, url } = fixture();
  const page = await anonymous.get(`${url}/docs`);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toContain(
    "default-src 'none'; script-src 'self'",
  );
  const loaded = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
  expect(loaded).toHaveLength(3);
  for (const path of loaded) {
    const answer = await anonymous.get(`${url}${path}`);
    expect(answer.status).toBe(200);
    expect(answer.body.length).toBeGreaterThan(500);
  }
});
