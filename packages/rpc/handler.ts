import type { CallMetadata } from "./channel.ts";

/** One method of a service. Throws AppError; any other error has been logged and is an internal error. */
export interface CallHandler {
  /** A larger request is refused before it is read. */
  readonly maxRequestBytes: number;
  /** Verifies the caller by the metadata alone, so that a refused call's message is never read. */
  admit(metadata: CallMetadata): Promise<void>;
  /** Handles one call; verifies the caller as well. */
  handle(request: Uint8Array, metadata: CallMetadata): Promise<Uint8Array>;
}
