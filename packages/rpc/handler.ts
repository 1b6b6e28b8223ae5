import type { CallMetadata } from "./channel.ts";

/** Handles one call. Throws AppError; any other error has been logged and is reported as an internal error. */
export type CallHandler = (request: Uint8Array, metadata: CallMetadata) => Promise<Uint8Array>;
