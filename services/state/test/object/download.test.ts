import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, it, onTestFinished } from "vitest";
import { permanentlyDeleteBackingData, softDeleteBackingData } from "../../backing-data/app.ts";
import { deleteBlobsOnce } from "../../blob-deletion/worker.ts";
import type { StateVersionId } from "../../ids-domain.ts";
import { tracedStore } from "../../object/traced-store.ts";
import {
  bearer,
  errorOf,
  IDLE_MS,
  LIMIT,
  onEveryStore,
  type RunningObjects,
  runObjects,
} from "../running-objects.ts";
import { outsider, owner, reader } from "../service-fakes.ts";

/** Requests a version's state but does not read the response. */
function standingReader({ port }: RunningObjects, versionId: string): void {
  const socket = connect(port, "127.0.0.1").pause();
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  const authorization = `Authorization: Bearer ${owner.id}`;
  socket.write(`GET /v1/object/${versionId} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`);
}

onEveryStore("downloads", (objects) => {
  it("stores raw and JSON state and returns the same bytes", async () => {
    proves("State version/hosted-json-state-download-url");
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

  it("has a tag, which later requests can send for 304 without a body", async () => {
    const content = randomBytes(1000);
    const version = await objects().pending(content);
    await objects().send(version.json, "PUT", { body: "{}" });
    await objects().send(version.raw, "PUT", { body: content });
    const url = `/v1/object/${version.id}`;
    const get = (path: string, headers = {}, method: "GET" | "HEAD" = "GET") =>
      objects().send(path, method, { headers: { ...bearer(reader), ...headers } });
    const md5 = createHash("md5").update(content).digest("hex");
    expect((await get(url)).headers.etag).toBe(`"${md5}"`);
    for (const path of [url, `${url}/json`]) {
      const { etag } = (await get(path)).headers;
      for (const method of ["GET", "HEAD"] as const) {
        const repeated = await get(path, { "if-none-match": etag }, method);
        expect([repeated.status, repeated.bytes.length]).toEqual([304, 0]);
        expect(repeated.headers).toMatchObject({ etag, "cache-control": "private, no-store" });
      }
      expect((await get(path, { "if-none-match": '"other"' })).status).toBe(200);
    }
    const hidden = await objects().send(url, "GET", {
      headers: { ...bearer(outsider), "if-none-match": `"${md5}"` },
    });
    expect(hidden.status).toBe(404);
  });

  it("returns the requested range and its position", async () => {
    const content = randomBytes(700_000);
    const version = await objects().pending(content);
    await objects().send(version.raw, "PUT", { body: content });
    const url = `/v1/object/${version.id}`;
    const get = async (headers: Record<string, string>) => {
      const answer = await objects().send(url, "GET", {
        headers: { ...bearer(owner), ...headers },
      });
      expect(answer.headers["accept-ranges"]).toBe(answer.status === 416 ? undefined : "bytes");
      return answer;
    };
    const whole = await get({});
    expect([whole.status, whole.bytes.length]).toEqual([200, content.length]);
    const etag = String(whole.headers.etag);
    const parts = [
      ["bytes=0-0", 0, 1],
      ["bytes=699999-", 699_999, 700_000],
      ["bytes=100-399999", 100, 400_000],
      ["bytes=-300000", 400_000, 700_000],
      ["bytes=0-9999999", 0, 700_000],
    ] as const;
    for (const [range, from, to] of parts) {
      for (const condition of [{}, { "if-range": etag }]) {
        const part = await get({ range, ...condition });
        expect(part.status).toBe(206);
        expect(part.headers["content-range"]).toBe(`bytes ${from}-${to - 1}/${content.length}`);
        expect(part.headers["content-length"]).toBe(String(to - from));
        expect(part.bytes.equals(content.subarray(from, to)), range).toBe(true);
      }
    }
    const beyond = await get({ range: "bytes=700000-" });
    expect(errorOf(beyond).status).toBe(416);
    expect(beyond.headers["content-range"]).toBe(`bytes */${content.length}`);
    for (const headers of [
      { range: "bytes=0-1,5-6" },
      { range: "bytes=5-1" },
      { range: "bytes=0-1", "if-range": '"of something else"' },
    ]) {
      const { status, bytes } = await get(headers);
      expect([status, bytes.equals(content)]).toEqual([200, true]);
    }
    const head = { headers: { ...bearer(owner), range: "bytes=0-1" } };
    expect((await objects().send(url, "HEAD", head)).headers["content-length"]).toBe("700000");
    const outsider = await objects().send(url, "GET", { headers: { range: "bytes=0-1" } });
    expect(outsider.status).toBe(401);
  });

  it("returns nothing to users without access to the version", async () => {
    const version = await objects().pending("x");
    const url = `/v1/object/${version.id}`;
    const get = async (headers: Record<string, string>, path = url) =>
      errorOf(await objects().send(path, "GET", { headers })).status;
    expect(await get(bearer(owner)), "pending").toBe(404);
    await objects().send(version.raw, "PUT", { body: "x" });
    expect(await get({}), "no token").toBe(401);
    expect(await get({ authorization: "Basic eDp5" }), "no bearer token").toBe(401);
    expect(await get({ authorization: "Bearer wrong" }), "unknown token").toBe(401);
    expect(await get(bearer(outsider)), "stranger").toBe(404);
    expect(await get(bearer(owner), `${url}/json`), "no JSON").toBe(404);
    expect(await get(bearer(owner), `/v1/object/sv-unknown`), "unknown").toBe(404);
  });

  it("is not blocked by a reader that stalls", async () => {
    const content = randomBytes(LIMIT);
    const version = await objects().pending(content);
    await objects().send(version.raw, "PUT", { body: content });
    standingReader(objects(), version.id);
    const quick = await objects().send(`/v1/object/${version.id}`, "GET", {
      headers: bearer(owner),
    });
    expect(quick.bytes.equals(content)).toBe(true);
  });

  it("waits for a store that is slow to respond", async () => {
    const { state, store } = objects();
    const version = await objects().pending("slow");
    await objects().send(version.raw, "PUT", { body: "slow" });
    await using slow = await runObjects(state, {
      ...tracedStore(store),
      async get(...request) {
        await pause(IDLE_MS * 1.5);
        await store.get(...request);
      },
    });
    const answer = await slow.send(`/v1/object/${version.id}`, "GET", { headers: bearer(owner) });
    expect(answer.bytes.toString()).toBe("slow");
  });

  it("disconnects a reader that stalls", async () => {
    const { state, store } = objects();
    const version = await objects().pending("endless");
    await objects().send(version.raw, "PUT", { body: "endless" });
    let isAborted = false;
    await using endless = await runObjects(state, {
      ...tracedStore(store),
      async get(_key, open, signal) {
        const zeros = Readable.from(
          (function* () {
            for (;;) yield Buffer.alloc(64 * 1024);
          })(),
        );
        await pipeline(zeros, open("endless".length), { signal }).catch(() => {});
        isAborted = true;
      },
    });
    standingReader(endless, version.id);
    await waitFor(() => isAborted);
  });

  it("returns 404 if the data is permanently deleted before the first byte", async () => {
    proves('State errors/a storage error is 5xx, never "no state"');
    const { state, store } = objects();
    const workspaceId = state.lockedWorkspace();
    const version = await objects().pending("first", workspaceId);
    await objects().send(version.raw, "PUT", { body: "first" });
    const second = await state.create(workspaceId, "second", { serial: 2n });
    await objects().send(second.internalUploadPath, "PUT", { body: "second" });
    const caller = await state.callerOf(owner);
    const remove = async () => {
      for (const action of [softDeleteBackingData, permanentlyDeleteBackingData]) {
        await action(state.app, caller, version.id as StateVersionId);
      }
      while (await deleteBlobsOnce(state.app, store));
    };
    await using overtaken = await runObjects(state, {
      ...tracedStore(store),
      async get(key, open, signal, range) {
        await remove();
        await store.get(key, open, signal, range);
      },
    });
    const answer = await overtaken.send(`/v1/object/${version.id}`, "GET", {
      headers: bearer(owner),
    });
    expect(errorOf(answer).status).toBe(404);
  });

  it("sends nothing if the number of stored bytes differs", async () => {
    proves('State errors/a storage error is 5xx, never "no state"');
    const version = await objects().pending("whole");
    await objects().send(version.raw, "PUT", { body: "whole" });
    const [key = ""] = await objects().keysOf(version.id);
    const { store } = objects();
    for (const other of ["who", "whole and more"]) {
      await store.delete([key]);
      const body = Readable.from([Buffer.from(other)]);
      await store.put(key, body, { size: other.length }, new AbortController().signal);
      const answer = await objects().send(`/v1/object/${version.id}`, "GET", {
        headers: bearer(owner),
      });
      expect(errorOf(answer).status).toBe(503);
    }
  });

  it("reports a failure of the store if bytes are lost", async () => {
    proves('State errors/a storage error is 5xx, never "no state"');
    const version = await objects().pending("x");
    await objects().send(version.raw, "PUT", { body: "x" });
    await objects().store.delete(await objects().keysOf(version.id));
    const answer = await objects().send(`/v1/object/${version.id}`, "GET", {
      headers: bearer(owner),
    });
    expect(errorOf(answer).status).toBe(503);
  });
});
