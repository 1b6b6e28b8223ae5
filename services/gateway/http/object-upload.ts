import { conflict, notFound, unavailable } from "@statehouse/errors";
import { remainingMs, traceparent, withClientSpan } from "@statehouse/runtime";
import { Agent, request } from "undici";

/** Uploads bytes to the object server of the state service, as clients do. */
export interface ObjectUpload extends AsyncDisposable {
  /**
   * Uploads bytes. `path` contains the signed authorization of the upload URL and is never logged. Throws `conflict` if
   * the state version no longer accepts the bytes, `notFound` if the caller is no longer allowed to write state in the
   * workspace or the workspace was deleted, and `unavailable` if the upload fails for another reason.
   */
  put(path: string, bytes: Uint8Array): Promise<void>;
}

/** Time limit of an upload that is made without a request's deadline, in ms. */
const DEFAULT_TIMEOUT_MS = 30_000;

const refused = (cause?: unknown) =>
  unavailable("state_upload", "The state could not be stored; try again.", cause);

/**
 * Creates the error for an upload that would fail again if it were repeated: other bytes were uploaded first, or the
 * state version was discarded in the meantime, or its upload window has ended.
 */
const notTaken = () =>
  conflict("state_not_taken", "The state version no longer accepts this state.");

/** Creates an upload client for the object server at `baseUrl`. */
export function createObjectUpload(baseUrl: string): ObjectUpload {
  const dispatcher = new Agent({ connections: 32 });
  return {
    put: (path, bytes) =>
      withClientSpan("PUT /v1/object/:token", {}, async () => {
        let status: number;
        try {
          const parent = traceparent();
          const answer = await request(new URL(path, baseUrl), {
            dispatcher,
            method: "PUT",
            body: bytes,
            headers: {
              "content-type": "application/octet-stream",
              ...(parent ? { traceparent: parent } : {}),
            },
            signal: AbortSignal.timeout(remainingMs() ?? DEFAULT_TIMEOUT_MS),
          });
          await answer.body.dump();
          status = answer.statusCode;
        } catch (error) {
          throw refused(error);
        }
        if (status >= 200 && status < 300) return;
        if (status === 404) throw notFound("workspace");
        if (status < 500) throw notTaken();
        throw refused(new Error(`the object server responded with ${status}`));
      }),
    [Symbol.asyncDispose]: () => dispatcher.close(),
  };
}
