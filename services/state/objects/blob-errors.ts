import { badRequest, unavailable } from "@statehouse/errors";

export { md5Mismatch } from "../domain/errors.ts";

/** The body ended before, or went on after, the length that was announced. */
export const contentTruncated = (expected: number, received: number) =>
  badRequest(
    "content_truncated",
    `The content has ${received} bytes where ${expected} were announced; nothing was stored.`,
  );

/** Whatever the store's own failure: never to be taken for "no state". */
export const storeUnavailable = (cause: unknown) =>
  unavailable("blob_store", "The store of state contents does not answer; try again.", cause);

/** A row refers to bytes that are not there, or not whole: the store lost them, or is the wrong one. */
export const blobDamaged = (problem: string) =>
  unavailable("blob_store", "The content cannot be read from the store.", new Error(problem));
