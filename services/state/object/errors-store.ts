import { AppError, badRequest, unavailable } from "@statehouse/errors";

/** The length of the body differs from the announced length. */
export const contentTruncated = (expected: number, received: number) =>
  badRequest(
    "content_truncated",
    `The content has ${received} bytes, but ${expected} were announced; nothing was stored.`,
  );

/** A failure of the store itself. It must never be treated as a missing state. */
export const storeUnavailable = (cause: unknown) =>
  unavailable("blob_store", "The store of state contents does not respond; try again.", cause);

/** A problem that an operator has to fix, as one sentence. Used for readiness and commands; clients never see it. */
export const storeUnusable = (problem: string, cause?: unknown) =>
  new AppError("unavailable", "blob_store", problem, { cause });

/** A row refers to bytes that are missing or incomplete: the store lost them, or the wrong store is configured. */
export const blobDamaged = (problem: string) =>
  unavailable("blob_store", "The content cannot be read from the store.", new Error(problem));

/** A row refers to bytes that are missing in the store. */
export const blobMissing = (key: string, cause?: unknown) =>
  new AppError("unavailable", "blob_missing", "The content cannot be read from the store.", {
    cause: new Error(`no bytes under key ${key}`, { cause }),
  });

/** Returns whether the error means that only this key is missing, while the store itself works. */
export const isBlobMissing = (error: unknown): boolean =>
  error instanceof AppError && error.reason === "blob_missing";
