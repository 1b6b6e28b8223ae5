import type { IncomingMessage } from "node:http";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isNotFound } from "@statehouse/errors";
import { runWithDeadline } from "@statehouse/runtime";
import { isStateNotTaken, uploadUsed } from "../errors-domain.ts";
import type { StoredVersion } from "../state-version/domain.ts";
import {
  authorizeRepeat,
  beginUpload,
  finishUpload,
  type UploadOutcome,
} from "../state-version/upload-app.ts";
import { requireSameContent } from "../state-version/upload-domain.ts";
import type { UploadClaims } from "../state-version/upload-token-domain.ts";
import {
  answerDone,
  contentEmpty,
  contentTooLarge,
  lengthRequired,
  unknownUploadUrl,
} from "./answer-http.ts";
import { ContentMeter } from "./content-meter-store.ts";
import type { Exchange, Objects } from "./context-http.ts";
import { newBlobKey } from "./key-domain.ts";
import type { StoredBlob } from "./store.ts";

/**
 * Time limit in ms that applies twice: to the calls and database work before the bytes are received, and to those after
 * the bytes were received.
 */
const TRANSACTION_MS = 15_000;

export interface Upload extends Exchange {
  token: string;
}

/**
 * Receives the content for an upload URL. Stores the bytes first and then commits one transaction. A crash between the
 * two leaves an ownerless blob, which the sweeper deletes, and a URL that still works.
 */
export async function receiveContent(objects: Objects, upload: Upload): Promise<void> {
  try {
    await receive(objects, upload);
  } catch (error) {
    // The workspace was deleted, or the creator lost its rights. The response must not reveal that the URL was valid.
    if (isNotFound(error)) throw unknownUploadUrl();
    // The client's URL expires together with the upload window, so it expired during this upload. The gateway's URL for
    // a repeat of the create request expires later, and the gateway receives the conflict.
    if (isStateNotTaken(error) && !claimsOf(objects, upload)) throw unknownUploadUrl();
    throw error;
  }
}

async function receive(objects: Objects, upload: Upload): Promise<void> {
  const { app } = objects;
  const claims = claimsOf(objects, upload);
  if (!claims) throw unknownUploadUrl();
  const size = announcedSize(upload.request, app.settings.maxStateBytes);
  const { target, stored } = await within(() => beginUpload(app, claims));
  let outcome: UploadOutcome = "alreadyStored";
  if (stored) {
    // If the lengths differ, the contents differ too, so the uploaded bytes need not be read.
    if (size !== stored.size) throw uploadUsed();
    const digests = await digestsOf(upload, size);
    await within(() => authorizeRepeat(app, target));
    requireSameContent(stored, digests);
  } else {
    // The create request announced only the md5 of the raw state.
    const expected = { size, md5: claims.kind === "raw" ? target.md5 : undefined };
    outcome = await storeContent(objects, upload, { ...claims, target }, expected);
  }
  answerDone(upload.response);
  const { versionId, kind } = claims;
  app.logger.info(
    { stateVersionId: versionId, kind, size },
    outcome === "stored" ? "upload stored" : "upload repeated; content already stored",
  );
}

/** Returns the claims of the upload URL; undefined if the URL is invalid or has expired. */
const claimsOf = ({ app }: Objects, { token }: Upload): UploadClaims | undefined =>
  app.uploadTokens.verify(token, app.now());

async function storeContent(
  { app, store }: Objects,
  { request, response, signal, awaitsContinue }: Upload,
  { target, ...claims }: UploadClaims & { target: StoredVersion },
  expected: { size: number; md5: string | undefined },
): Promise<UploadOutcome> {
  const attemptStartedAt = app.now();
  const blobKey = newBlobKey({ ...claims, startedAt: attemptStartedAt });
  if (awaitsContinue) response.writeContinue();
  const stored = await store.put(blobKey, request, expected, signal);
  return within(() =>
    finishUpload(app, target, claims.kind, { ...stored, blobKey, attemptStartedAt }),
  );
}

/** Reads the body without storing it, and returns its digests. */
async function digestsOf(
  { request, response, signal, awaitsContinue }: Upload,
  size: number,
): Promise<StoredBlob> {
  if (awaitsContinue) response.writeContinue();
  const meter = new ContentMeter({ size }, { md5: "proven elsewhere" });
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  await pipeline(meter.measure(request), nowhere, { signal });
  return meter.digests;
}

function announcedSize(request: IncomingMessage, limit: number): number {
  const announced = request.headers["content-length"];
  if (announced === undefined) throw lengthRequired();
  const size = Number(announced);
  if (size === 0) throw contentEmpty();
  if (!(size <= limit)) throw contentTooLarge(limit);
  return size;
}

const within = <T>(work: () => Promise<T>): Promise<T> =>
  runWithDeadline(Date.now() + TRANSACTION_MS, work);
