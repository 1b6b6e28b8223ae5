import { describe, expect, test } from "vitest";
import { ask, useGateway } from "../test/use-gateway.ts";

useGateway();

const shown = "/api/v2/workspaces/ws-1";
const listed = "/api/v2/organizations/acme/workspaces";

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  ask(method, path, undefined, "good", headers);

describe("a response to GET", () => {
  test("has a weak tag, which later requests can send for 304 without a body", async () => {
    const { status, headers } = await get(shown);
    expect(status).toBe(200);
    const tag = headers.get("etag") ?? "";
    expect(tag).toMatch(/^W\/"[\w-]{22}(-gzip)?"$/);
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("vary")).toBe("Authorization, Accept, Accept-Encoding");
    for (const known of [tag, `"other", ${tag}`, tag.slice(2), "*"]) {
      const repeated = await get(shown, { "if-none-match": known });
      expect(repeated).toMatchObject({ status: 304, text: "" });
      expect(repeated.headers.get("etag")).toBe(tag);
      expect(repeated.headers.get("vary")).toBe("Authorization, Accept, Accept-Encoding");
    }
    expect((await get(shown, { "if-none-match": '"other"' })).status).toBe(200);
  });
  test("has another tag if any part of the body differs", async () => {
    const tags = await Promise.all(
      [shown, "/api/v2/workspaces/ws-2", listed, `${listed}?page%5Bnumber%5D=2`].map(async (path) =>
        (await get(path)).headers.get("etag"),
      ),
    );
    expect(new Set(tags).size).toBe(tags.length);
  });
  test("is compressed above 1 KiB if the client accepts it, with its own tag", async () => {
    const plain = await get(shown, { "accept-encoding": "identity" });
    expect(plain.text.length).toBeGreaterThan(1024);
    expect(plain.headers.get("content-encoding")).toBeNull();
    const compressed = await get(shown, { "accept-encoding": "gzip" });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    expect(compressed.headers.get("content-type")).toBe("application/vnd.api+json");
    expect(Number(compressed.headers.get("content-length"))).toBeLessThan(plain.text.length);
    expect(compressed.json).toEqual(plain.json);
    expect(compressed.headers.get("etag")).not.toBe(plain.headers.get("etag"));
    const small = await get("/.well-known/terraform.json", { "accept-encoding": "gzip" });
    expect(small.headers.get("content-encoding")).toBeNull();
  });
  test("has the same headers as the response to HEAD, which has no body", async () => {
    for (const encoding of ["gzip", "identity"]) {
      const [withBody, without] = await Promise.all(
        ["GET", "HEAD"].map((method) => get(shown, { "accept-encoding": encoding }, method)),
      );
      expect(without).toMatchObject({ status: 200, text: "" });
      for (const name of ["etag", "content-length", "content-encoding", "content-type", "vary"]) {
        expect(without?.headers.get(name)).toBe(withBody?.headers.get(name));
      }
    }
  });
});

describe("a response that must not be stored", () => {
  const expectUnstored = ({ headers }: Awaited<ReturnType<typeof get>>) => {
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBeNull();
    expect(headers.get("content-encoding")).toBeNull();
  };
  test("is one with an upload URL", async () => {
    expectUnstored(await get("/api/v2/state-versions/sv-pending"));
    expect((await get("/api/v2/state-versions/sv-1")).headers.get("etag")).not.toBeNull();
  });
  test("is one with the value of a sensitive output", async () => {
    expectUnstored(await get("/api/v2/state-version-outputs/wsout-secret"));
  });
  test("is an error", async () => {
    expectUnstored(await get("/api/v2/workspaces/ws-gone"));
  });
  test("is one that a request with a change received", async () => {
    const { headers } = await ask("POST", `${shown}/actions/lock`, { reason: "work" });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBeNull();
    expect(headers.get("content-encoding")).toBe("gzip");
  });
});
