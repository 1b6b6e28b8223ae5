import type { IncomingMessage, ServerResponse } from "node:http";
import { unauthenticated } from "@statehouse/errors";
import { runWithDeadline } from "@statehouse/runtime";
import { authorizeDownload } from "../app/download.ts";
import type { StateVersionId } from "../domain/ids.ts";
import type { ContentKind } from "../domain/upload-token.ts";
import { blobDamaged } from "./blob-errors.ts";
import type { Objects } from "./objects.ts";

/** For authenticating and authorizing, in ms. */
const AUTHORIZATION_MS = 15_000;

const contentTypes = {
  raw: "application/octet-stream",
  json: "application/json",
} as const satisfies Record<ContentKind, string>;

export interface DownloadRequest {
  versionId: StateVersionId;
  kind: ContentKind;
  request: IncomingMessage;
  response: ServerResponse;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
}

/** Sends a content to a caller whose bearer token may read it. The URL itself is no capability. */
export async function sendContent(
  { app, store }: Objects,
  { versionId, kind, request, response, signal }: DownloadRequest,
): Promise<void> {
  const token = bearerToken(request.headers.authorization);
  const look = () =>
    runWithDeadline(Date.now() + AUTHORIZATION_MS, async () =>
      authorizeDownload(app, await app.authenticate(token), versionId, kind),
    );
  const download = await look();
  const headers = {
    "content-type": contentTypes[kind],
    "content-length": String(download.size),
    "content-disposition": `attachment; filename="${download.filename}"`,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
  };
  if (request.method === "HEAD") {
    response.writeHead(200, headers);
    response.end();
    return;
  }
  const open = (size: number) => {
    if (size !== download.size) throw blobDamaged(`${size} bytes instead of ${download.size}`);
    return response.writeHead(200, headers);
  };
  try {
    await store.get(download.blobKey, open, signal);
  } catch (error) {
    // Deleted since it was looked up: that is 404, and no fault of the store.
    if (!response.headersSent && !signal.aborted) await look();
    throw error;
  }
}

function bearerToken(header: string | undefined): string {
  const [, token] = /^Bearer +(\S+) *$/i.exec(header ?? "") ?? [];
  if (token === undefined) throw unauthenticated();
  return token;
}
