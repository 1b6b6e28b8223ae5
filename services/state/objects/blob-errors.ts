import { AppError, badRequest, unavailable } from "@statehouse/errors";

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

/** What an operator has to mend, in one sentence; for readiness and commands, never for clients. */
export const storeUnusable = (problem: string, cause?: unknown) =>
  new AppError("unavailable", "blob_store", problem, { cause });

/** A row refers to bytes that are not there, or not whole: the store lost them, or is the wrong one. */
export const blobDamaged = (problem: string) =>
  unavailable("blob_store", "The content cannot be read from the store.", new Error(problem));

/** A row refers to bytes that the store has not got. */
export const blobMissing = (key: string, cause?: unknown) =>
  new AppError("unavailable", "blob_missing", "The content cannot be read from the store.", {
    cause: new Error(`there are no bytes under ${key}`, { cause }),
  });

/** Whether it is the key that is missing, and nothing else is wrong with the store. */
export const isBlobMissing = (error: unknown): boolean =>
  error instanceof AppError && error.reason === "blob_missing";
