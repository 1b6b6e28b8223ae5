import type { IncomingMessage } from "node:http";
import type { Caller } from "@statehouse/authorization";
import { AppError, unauthenticated } from "@statehouse/errors";
import { type Actor, bearerToken, isCurrentTag, runAs, runWithDeadline } from "@statehouse/runtime";
import { actorOf } from "../actor-app.ts";
import type { App } from "../app.ts";
import type { StateVersionId } from "../ids-domain.ts";
import { authorizeDownload, type Download } from "../state-version/app.ts";
import { recordDownload, recordRefusedDownload } from "../state-version/reading-app.ts";
import type { ContentKind } from "../state-version/upload-token-domain.ts";
import { rangeNotSatisfiable } from "./answer-http.ts";
import { rangeOf } from "./byte-range-domain.ts";
import type { Exchange, Objects } from "./context-http.ts";
import { blobDamaged } from "./errors-store.ts";

/** Time limit for authentication and authorization, in ms. */
const AUTHORIZATION_MS = 15_000;

const contentTypes = {
  raw: "application/octet-stream",
  json: "application/json",
} as const satisfies Record<ContentKind, string>;

export interface DownloadRequest extends Exchange {
  versionId: StateVersionId;
  kind: ContentKind;
}

/**
 * Sends the raw state or the JSON form if the caller's bearer token permits reading it. The URL alone grants no access.
 */
export async function sendContent(
  { app, store }: Objects,
  downloadRequest: DownloadRequest,
): Promise<void> {
  const { versionId, request, response, kind, signal, watch } = downloadRequest;
  // A download request needs no body; if the client sends one, it is discarded.
  request.resume();
  const token = bearerToken(request.headers.authorization);
  if (token === undefined) throw unauthenticated();
  const authorize = () =>
    runWithDeadline(Date.now() + AUTHORIZATION_MS, () =>
      findAuthorized(app, token, downloadRequest),
    );
  const { actor, download } = await authorize();
  const etag = `"${download.digest}"`;
  const headers = {
    "content-type": contentTypes[kind],
    "content-length": String(download.size),
    "content-disposition": `attachment; filename="${download.filename}"`,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
    etag,
  };
  if (isCurrentTag(request.headers["if-none-match"], etag)) {
    const { "content-length": _, "content-type": __, ...kept } = headers;
    response.writeHead(304, kept);
    response.end();
    return;
  }
  if (request.method === "HEAD") {
    response.writeHead(200, headers);
    response.end();
    return;
  }
  const range = requestedRange(request, etag, download.size);
  if (range === "unsatisfiable") throw rangeNotSatisfiable(download.size);
  await runAs(actor, () => recordDownload(app, download, versionId));
  const open = (size: number) => {
    if (size !== download.size) throw blobDamaged(`${size} bytes instead of ${download.size}`);
    watch();
    if (!range) return response.writeHead(200, headers);
    return response.writeHead(206, {
      ...headers,
      "content-length": String(range.end - range.start + 1),
      "content-range": `bytes ${range.start}-${range.end}/${size}`,
    });
  };
  try {
    await store.get(download.blobKey, open, signal, range);
  } catch (error) {
    // The blob may have been deleted after the first lookup. A second lookup then throws the error for a 404, so that
    // the client does not get a failure of the store.
    if (!response.headersSent && !signal.aborted) await authorize();
    throw error;
  }
}

/** Authenticates the caller and authorizes the download. Records a refused download. */
async function findAuthorized(
  app: App,
  token: string,
  { versionId, kind, address, request, authenticationLimit }: DownloadRequest,
): Promise<{ actor: Actor; download: Download }> {
  const caller = await authenticationLimit.run(request, () => signIn(app, token, address));
  const actor = actorOf(caller, address);
  return runAs(actor, async () => {
    try {
      return { actor, download: await authorizeDownload(app, caller, versionId, kind) };
    } catch (error) {
      recordRefusedDownload(app, error, versionId);
      throw error;
    }
  });
}

async function signIn(app: App, token: string, address: string | undefined): Promise<Caller> {
  try {
    return await app.authenticate(token);
  } catch (error) {
    if (error instanceof AppError && error.kind === "unauthenticated") {
      app.audit.signInFailed(address);
    }
    throw error;
  }
}

/**
 * Returns the range to send. If the header If-Range contains another ETag than `etag`, the client gets the complete
 * content.
 */
function requestedRange({ headers }: IncomingMessage, etag: string, size: number) {
  const condition = headers["if-range"];
  return condition === undefined || condition === etag ? rangeOf(headers.range, size) : undefined;
}
