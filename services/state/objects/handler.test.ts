import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { createLogger } from "@statehouse/runtime";
import {
  freshBucket,
  type MinioAddress,
  needs,
  ownMinio,
  temporaryFolder,
  waitFor,
} from "@statehouse/testing";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { owner, reader, stranger } from "../test/neighbours.ts";
import { type RunningState, runState } from "../test/running-state.ts";
import type { BlobStore } from "./blob-store.ts";
import { openDirectoryStore } from "./directory-store.ts";
import { createObjectHandler } from "./handler.ts";
import { S3Store } from "./s3-store.ts";
import { startObjectServer } from "./server.ts";

const LIMIT = 4 * 1024 * 1024;
const IDLE_MS = 400;
const silent = createLogger({ service: "state", level: "silent" });
const md5 = (content: Buffer | string) => createHash("md5").update(content).digest("hex");

const stack = new AsyncDisposableStack();
let state: RunningState;
beforeAll(async () => {
  state = stack.use(await runState());
});
afterAll(() => stack.disposeAsync());

async function serve(store: BlobStore, onStack: AsyncDisposableStack): Promise<string> {
  const objects = { app: state.app, store, maxStateBytes: LIMIT, logger: silent };
  const handler = createObjectHandler(objects, { idleTimeoutMs: IDLE_MS });
  const server = onStack.use(
    await startObjectServer({ host: "127.0.0.1", port: 0, handler, logger: silent }),
  );
  return `http://127.0.0.1:${server.port}`;
}

/** A pending version for this content. */
async function pending(content: Buffer | string, workspaceId = state.lockedWorkspace()) {
  const { stateVersion, internalUploadPath, internalJsonUploadPath } =
    await state.versions.createStateVersion({
      workspaceId,
      serial: 1n,
      lineage: "a",
      md5: md5(content),
    });
  return { id: stateVersion?.id ?? "", raw: internalUploadPath, json: internalJsonUploadPath };
}

const statusOf = async (id: string) =>
  (await state.versions.getStateVersion({ id })).stateVersion?.status;

interface ErrorDocument {
  errors: { status: string; title: string; detail: string }[];
}

async function send(
  url: string,
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE",
  { body, headers = {} }: { body?: Buffer | string; headers?: Record<string, string> } = {},
) {
  const answer = await request(url, { method, body: body ?? null, headers });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: Buffer.from(await answer.body.arrayBuffer()),
  };
}

/** The one error of a JSON:API document. */
function errorOf({ headers, bytes, status }: Awaited<ReturnType<typeof send>>) {
  expect(headers["content-type"]).toBe("application/vnd.api+json");
  const { errors } = JSON.parse(bytes.toString()) as ErrorDocument;
  expect(errors).toHaveLength(1);
  expect(errors[0]?.status).toBe(String(status));
  return { status, detail: errors[0]?.detail ?? "" };
}

const bearer = (who: { id: string }) => ({ authorization: `Bearer ${who.id}` });

describe("objects kept in a folder", () => {
  behaviour(async (onStack) => openDirectoryStore(onStack.use(await temporaryFolder()).path));
});

needs("minio")("objects kept in MinIO", () => {
  behaviour(async (onStack) => {
    const store = new S3Store(onStack.use(await freshBucket()), silent);
    await store.prepared;
    return store;
  });
});

function behaviour(openStore: (onStack: AsyncDisposableStack) => Promise<BlobStore>): void {
  const own = new AsyncDisposableStack();
  let base: string;
  let store: BlobStore;
  beforeAll(async () => {
    store = own.use(await openStore(own));
    base = await serve(store, own);
  });
  afterAll(() => own.disposeAsync());

  const keysOf = async (versionId: string) => {
    const keys: string[] = [];
    for await (const { key } of store.list()) if (key.includes(`/${versionId}/`)) keys.push(key);
    return keys;
  };

  it("takes raw and JSON state and gives back the same bytes", async () => {
    const content = randomBytes(1_500_000);
    const version = await pending(content);
    expect((await send(base + version.json, "PUT", { body: "{}" })).status).toBe(200);
    expect(await statusOf(version.id)).toBe("pending");
    expect((await send(base + version.raw, "PUT", { body: content })).status).toBe(200);
    expect(await statusOf(version.id)).toBe("finalized");

    const url = `${base}/v1/object/${version.id}`;
    const raw = await send(url, "GET", { headers: bearer(reader) });
    expect(raw.status).toBe(200);
    expect(raw.headers["content-length"]).toBe(String(content.length));
    expect(raw.bytes.equals(content)).toBe(true);
    const json = await send(`${url}/json`, "GET", { headers: bearer(owner) });
    expect([json.headers["content-type"], json.bytes.toString()]).toEqual([
      "application/json",
      "{}",
    ]);
    const head = await send(url, "HEAD", { headers: bearer(reader) });
    expect([head.status, head.headers["content-length"]]).toEqual([200, String(content.length)]);
  });

  it("takes the same bytes again without storing them, and refuses others", async () => {
    const content = randomBytes(100_000);
    const version = await pending(content);
    for (let time = 0; time < 3; time++) {
      expect((await send(base + version.raw, "PUT", { body: content })).status).toBe(200);
    }
    for (const other of [randomBytes(100_000), randomBytes(5)]) {
      expect(errorOf(await send(base + version.raw, "PUT", { body: other })).status).toBe(409);
    }
    expect(await keysOf(version.id)).toHaveLength(1);
  });

  it("refuses bytes with another md5, stores nothing, and takes the right ones afterwards", async () => {
    const content = randomBytes(200_000);
    const version = await pending(content);
    const refused = errorOf(await send(base + version.raw, "PUT", { body: randomBytes(200_000) }));
    expect(refused).toMatchObject({ status: 409, detail: expect.stringContaining("md5") });
    expect(await keysOf(version.id)).toEqual([]);
    expect(await statusOf(version.id)).toBe("pending");
    expect((await send(base + version.raw, "PUT", { body: content })).status).toBe(200);
  });

  it("stores nothing of an upload that breaks off, and its URL stays usable", async () => {
    const content = randomBytes(300_000);
    const version = await pending(content);
    const socket = rawPut(base, version.raw, content.length);
    socket.write(content.subarray(0, 200_000));
    await pause(50);
    socket.destroy();
    await pause(50);
    expect(await statusOf(version.id)).toBe("pending");
    expect(await keysOf(version.id)).toEqual([]);
    expect((await send(base + version.raw, "PUT", { body: content })).status).toBe(200);
  });

  it("answers 400 to a body that ends before its announced length", async () => {
    const content = randomBytes(1000);
    const version = await pending(content);
    const socket = rawPut(base, version.raw, content.length + 1);
    socket.end(content);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
    expect(await keysOf(version.id)).toEqual([]);
    expect(await statusOf(version.id)).toBe("pending");
  });

  it("drops an uploader that stands still", async () => {
    const version = await pending("never comes");
    const socket = rawPut(base, version.raw, 100_000);
    socket.write("something");
    const started = performance.now();
    await text(socket).catch(() => {});
    expect(performance.now() - started).toBeLessThan(IDLE_MS * 10);
    expect(await keysOf(version.id)).toEqual([]);
  });

  it("takes an uploader that is slow, but moves", async () => {
    const content = randomBytes(40);
    const version = await pending(content);
    const socket = rawPut(base, version.raw, content.length);
    for (let sent = 0; sent < content.length; sent += 5) {
      socket.write(content.subarray(sent, sent + 5));
      await pause(IDLE_MS / 4);
    }
    socket.end();
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /);
    expect(await statusOf(version.id)).toBe("finalized");
  });

  it("says before the bytes come whether it will take them", async () => {
    const content = randomBytes(5000);
    const version = await pending(content);
    const taken = rawPut(
      base,
      version.raw,
      content.length,
      "Expect: 100-continue\r\nConnection: close\r\n",
    );
    taken.once("data", () => taken.write(content));
    expect(await text(taken)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
    const refused = rawPut(base, version.raw, LIMIT + 1, "Expect: 100-continue\r\n");
    expect(await text(refused)).toMatch(/^HTTP\/1.1 413 /);
  });

  it("lets one of two racing uploads win and answers both", async () => {
    const content = randomBytes(200_000);
    const version = await pending(content);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => send(base + version.raw, "PUT", { body: content })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await statusOf(version.id)).toBe("finalized");
  });

  it("refuses uploads without length, without content, and above the limit", async () => {
    const { raw } = await pending("x");
    const chunked = await request(base + raw, { method: "PUT", body: Readable.from(["a piece"]) });
    expect(chunked.statusCode).toBe(411);
    await chunked.body.dump();
    expect(errorOf(await send(base + raw, "PUT", { body: Buffer.alloc(0) })).status).toBe(400);
    const socket = rawPut(base, raw, LIMIT + 1);
    socket.write(randomBytes(100_000));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toContain('"status":"413"');
  });

  it("refuses altered, foreign and expired upload URLs", async () => {
    const version = await pending("x");
    const token = version.raw.slice("/v1/object/".length);
    const altered = token.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const expired = state.app.uploadTokens.sign({
      ...claimsOf(token),
      expiresAt: new Date(Date.now() - 1),
    });
    const unknown = state.app.uploadTokens.sign({ ...claimsOf(token), versionId: "sv-unknown" });
    const elsewhere = state.app.uploadTokens.sign({ ...claimsOf(token), workspaceId: "ws-other" });
    for (const path of [altered, expired, unknown, elsewhere, "x", "..", "%00"]) {
      const answer = await send(`${base}/v1/object/${path}`, "PUT", { body: "x" });
      expect(answer.status, path).toBe(404);
    }
    expect(await statusOf(version.id)).toBe("pending");
  });

  it("refuses content for a version that was discarded", async () => {
    const workspaceId = state.lockedWorkspace();
    const version = await pending("x", workspaceId);
    await state.workspaceState.sealLock({ workspaceId, epoch: 10n, discardPending: true });
    expect(errorOf(await send(base + version.raw, "PUT", { body: "x" })).status).toBe(409);
  });

  it("gives nothing to whom the version does not exist", async () => {
    const version = await pending("x");
    const url = `${base}/v1/object/${version.id}`;
    const get = async (headers: Record<string, string>, path = url) =>
      errorOf(await send(path, "GET", { headers })).status;
    expect(await get(bearer(owner)), "pending").toBe(404);
    await send(base + version.raw, "PUT", { body: "x" });
    expect(await get({}), "no token").toBe(401);
    expect(await get({ authorization: "Basic eDp5" }), "no bearer token").toBe(401);
    expect(await get({ authorization: "Bearer wrong" }), "unknown token").toBe(401);
    expect(await get(bearer(stranger)), "stranger").toBe(404);
    expect(await get(bearer(owner), `${url}/json`), "no JSON").toBe(404);
    expect(await get(bearer(owner), `${base}/v1/object/sv-unknown`), "unknown").toBe(404);
  });

  it("answers in JSON to other methods and addresses", async () => {
    const version = await pending("x");
    const statuses = async (method: "GET" | "POST" | "DELETE" | "PUT", path: string) =>
      errorOf(await send(base + path, method)).status;
    expect(await statuses("POST", version.raw)).toBe(405);
    expect(await statuses("GET", version.raw)).toBe(405);
    expect(await statuses("DELETE", `/v1/object/${version.id}`)).toBe(405);
    expect(await statuses("PUT", `/v1/object/${version.id}/json`)).toBe(405);
    for (const path of ["/", "/v1/object", "/v1/object/", `/v1/object/${version.id}/more`]) {
      expect(await statuses("GET", path)).toBe(404);
    }
  });

  it("is not held up by a reader that stands still", async () => {
    const content = randomBytes(LIMIT);
    const version = await pending(content);
    await send(base + version.raw, "PUT", { body: content });
    const { port } = new URL(base);
    const stuck = connect(Number(port), "127.0.0.1");
    onTestFinished(() => void stuck.destroy());
    stuck.pause();
    stuck.write(
      `GET /v1/object/${version.id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.id}\r\n\r\n`,
    );
    const quick = await send(`${base}/v1/object/${version.id}`, "GET", { headers: bearer(owner) });
    expect(quick.bytes.equals(content)).toBe(true);
  });

  it("says that it is the store that fails when bytes are lost", async () => {
    const version = await pending("x");
    await send(base + version.raw, "PUT", { body: "x" });
    await store.delete(await keysOf(version.id));
    const answer = await send(`${base}/v1/object/${version.id}`, "GET", { headers: bearer(owner) });
    expect(errorOf(answer).status).toBe(503);
  });
}

needs("minio")("objects while MinIO is down", () => {
  it("are 503, and the upload succeeds on the same URL once it is back", {
    timeout: 60_000,
  }, async () => {
    await using own = new AsyncDisposableStack();
    const minio = own.use(await ownMinio());
    const address: MinioAddress = minio;
    await minio.stop();
    const store = own.use(new S3Store({ ...address, bucket: "statehouse" }, silent));
    const base = await serve(store, own);
    const content = randomBytes(100_000);
    const version = await pending(content);
    await expect(store.ready()).rejects.toMatchObject({ kind: "unavailable" });
    expect(errorOf(await send(base + version.raw, "PUT", { body: content })).status).toBe(503);
    await minio.start();
    await waitFor(
      async () => (await send(base + version.raw, "PUT", { body: content })).status === 200,
      {
        timeout: 40_000,
      },
    );
    await minio.stop();
    const url = `${base}/v1/object/${version.id}`;
    expect(errorOf(await send(url, "GET", { headers: bearer(owner) })).status).toBe(503);
    await minio.start();
    expect((await send(url, "GET", { headers: bearer(owner) })).bytes.equals(content)).toBe(true);
  });
});

function claimsOf(token: string) {
  const claims = state.app.uploadTokens.verify(token, new Date());
  if (!claims) throw new Error("the token is not valid");
  return claims;
}

function rawPut(base: string, path: string, length: number, headers = "") {
  const socket = connect({
    port: Number(new URL(base).port),
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${headers}\r\n`);
  return socket;
}
