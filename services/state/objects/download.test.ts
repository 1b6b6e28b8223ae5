import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { owner, reader, stranger } from "../test/neighbours.ts";
import { bearer, errorOf, LIMIT, onEveryStore } from "../test/running-objects.ts";

onEveryStore("downloads", (objects) => {
  it("takes raw and JSON state and gives back the same bytes", async () => {
    const content = randomBytes(1_500_000);
    const version = await objects().pending(content);
    expect((await objects().send(version.json, "PUT", { body: "{}" })).status).toBe(200);
    expect(await objects().statusOf(version.id)).toBe("pending");
    expect((await objects().send(version.raw, "PUT", { body: content })).status).toBe(200);
    expect(await objects().statusOf(version.id)).toBe("finalized");

    const url = `/v1/object/${version.id}`;
    const raw = await objects().send(url, "GET", { headers: bearer(reader) });
    expect(raw.status).toBe(200);
    expect(raw.headers["content-length"]).toBe(String(content.length));
    expect(raw.bytes.equals(content)).toBe(true);
    const json = await objects().send(`${url}/json`, "GET", { headers: bearer(owner) });
    expect([json.headers["content-type"], json.bytes.toString()]).toEqual([
      "application/json",
      "{}",
    ]);
    const head = await objects().send(url, "HEAD", { headers: bearer(reader) });
    expect([head.status, head.headers["content-length"]]).toEqual([200, String(content.length)]);
  });

  it("gives nothing to whom the version does not exist", async () => {
    const version = await objects().pending("x");
    const url = `/v1/object/${version.id}`;
    const get = async (headers: Record<string, string>, path = url) =>
      errorOf(await objects().send(path, "GET", { headers })).status;
    expect(await get(bearer(owner)), "pending").toBe(404);
    await objects().send(version.raw, "PUT", { body: "x" });
    expect(await get({}), "no token").toBe(401);
    expect(await get({ authorization: "Basic eDp5" }), "no bearer token").toBe(401);
    expect(await get({ authorization: "Bearer wrong" }), "unknown token").toBe(401);
    expect(await get(bearer(stranger)), "stranger").toBe(404);
    expect(await get(bearer(owner), `${url}/json`), "no JSON").toBe(404);
    expect(await get(bearer(owner), `/v1/object/sv-unknown`), "unknown").toBe(404);
  });

  it("is not held up by a reader that stands still", async () => {
    const content = randomBytes(LIMIT);
    const version = await objects().pending(content);
    await objects().send(version.raw, "PUT", { body: content });
    const stuck = connect(objects().port, "127.0.0.1");
    onTestFinished(() => void stuck.destroy());
    stuck.pause();
    stuck.write(
      `GET /v1/object/${version.id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.id}\r\n\r\n`,
    );
    const quick = await objects().send(`/v1/object/${version.id}`, "GET", {
      headers: bearer(owner),
    });
    expect(quick.bytes.equals(content)).toBe(true);
  });

  it("says that it is the store that fails when bytes are lost", async () => {
    const version = await objects().pending("x");
    await objects().send(version.raw, "PUT", { body: "x" });
    await objects().store.delete(await objects().keysOf(version.id));
    const answer = await objects().send(`/v1/object/${version.id}`, "GET", {
      headers: bearer(owner),
    });
    expect(errorOf(answer).status).toBe(503);
  });
});
