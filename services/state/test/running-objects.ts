import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { createLogger, createProxies, openHttpPort } from "@statehouse/runtime";
import { freshBucket, needs, temporaryFolder } from "@statehouse/testing";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import { openDirectoryStore } from "../object/directory-store.ts";
import { createObjectHandler } from "../object/http.ts";
import { S3Store } from "../object/s3-store.ts";
import type { BlobStore } from "../object/store.ts";
import { type RunningState, runState } from "./running-state.ts";

/** Largest content that the object server of these tests accepts, in bytes. */
export const LIMIT = 4 * 1024 * 1024;
/** How long the object server permits an idle connection, in ms. */
export const IDLE_MS = 1000;

export const silent = createLogger({ service: "state", level: "silent" });

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

export type RunningObjects = Awaited<ReturnType<typeof runObjects>>;

/** Starts an object server with `store`. */
export async function runObjects(state: RunningState, store: BlobStore) {
  const settings = { ...state.app.settings, maxStateBytes: LIMIT };
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ service: "state", level: "info", destination });
  const objects = { app: { ...state.app, settings, logger }, store };
  const handler = createObjectHandler(objects, {
    idleMs: IDLE_MS,
    bodyMs: 60_000,
    proxies: createProxies([]),
    authenticationLimit: { run: (_, authenticate) => authenticate() },
  });
  const server = await openHttpPort({
    host: "127.0.0.1",
    port: 0,
    deadlines: { headersMs: 60_000, idleMs: 60_000 },
    handler,
    stopping: new AbortController().signal,
    shutdownMs: 20_000,
  });
  const base = `http://127.0.0.1:${server.port}`;
  return {
    state,
    store,
    base,
    port: server.port,

    /** Creates a pending version to which these bytes can be uploaded. */
    async pending(content: Buffer | string, workspaceId = state.lockedWorkspace()) {
      const { stateVersion, internalUploadPath, internalJsonUploadPath } =
        await state.versions.createStateVersion({
          workspaceId,
          serial: 1n,
          lineage: "a",
          md5: createHash("md5").update(content).digest("hex"),
        });
      return { id: stateVersion?.id ?? "", raw: internalUploadPath, json: internalJsonUploadPath };
    },

    /** Returns the log messages about a version. */
    logged: (stateVersionId: string): string[] =>
      lines
        .map((line) => JSON.parse(line))
        .filter((line) => line.stateVersionId === stateVersionId)
        .map(({ msg }) => msg),

    statusOf: async (id: string) =>
      (await state.versions.getStateVersion({ id })).stateVersion?.status,

    /** Returns the keys of a version's stored contents. */
    async keysOf(versionId: string): Promise<string[]> {
      const keys: string[] = [];
      for await (const { key } of store.list()) if (key.includes(`/${versionId}/`)) keys.push(key);
      return keys;
    },

    async send(
      path: string,
      method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE",
      { body, headers = {} }: { body?: Buffer | string; headers?: Record<string, string> } = {},
    ): Promise<Answer> {
      const answer = await request(base + path, { method, body: body ?? null, headers });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      return { status: answer.statusCode, headers: answer.headers, bytes };
    },

    /** Sends the head of a PUT request. The test writes the body to the returned socket, which it can half close. */
    rawPut(path: string, length: number, headers = ""): Socket {
      const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
      onTestFinished(() => void socket.destroy());
      socket.on("error", () => {});
      socket.write(
        `PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${headers}\r\n`,
      );
      return socket;
    },

    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Runs a suite once for each kind of store. */
export function onEveryStore(name: string, suite: (objects: () => RunningObjects) => void): void {
  describe(`${name}, kept in a folder`, () => {
    served(suite, async (stack) => openDirectoryStore(stack.use(await temporaryFolder()).path));
  });
  needs("minio")(`${name}, kept in MinIO`, () => {
    served(suite, async (stack) => {
      const store = new S3Store(stack.use(await freshBucket()), silent);
      await store.prepared;
      return store;
    });
  });
}

function served(
  suite: (objects: () => RunningObjects) => void,
  openStore: (stack: AsyncDisposableStack) => Promise<BlobStore>,
): void {
  const stack = new AsyncDisposableStack();
  let objects: RunningObjects;
  beforeAll(async () => {
    const state = stack.use(await runState());
    objects = stack.use(await runObjects(state, stack.use(await openStore(stack))));
  });
  afterAll(() => stack.disposeAsync());
  suite(() => objects);
}

interface ErrorDocument {
  errors: { status: string; title: string; detail: string }[];
}

/** Returns the only error of a JSON:API error document. */
export function errorOf({ headers, bytes, status }: Answer): { status: number; detail: string } {
  expect(headers["content-type"]).toBe("application/vnd.api+json");
  const { errors } = JSON.parse(bytes.toString()) as ErrorDocument;
  expect(errors).toHaveLength(1);
  expect(errors[0]?.status).toBe(String(status));
  return { status, detail: errors[0]?.detail ?? "" };
}

export const bearer = (who: { id: string }) => ({ authorization: `Bearer ${who.id}` });
