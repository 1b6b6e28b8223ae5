import type { Message } from "@bufbuild/protobuf";
import type { CallMetadata } from "./channel.ts";

/**
 * One method of a service. Throws AppError. Any other error has already been logged, and the caller receives an
 * internal error instead.
 */
export interface CallHandler {
  /** A larger request is refused before it is read. */
  readonly maxRequestBytes: number;
  /** Verifies the caller by the metadata alone, so that a refused call's message is never read. */
  admit(metadata: CallMetadata): Promise<void>;
  /**
   * Verifies the caller and handles one call. `read` returns the request, and `write` converts the response to the form
   * that the channel transfers.
   */
  handle<Answer>(
    metadata: CallMetadata,
    read: () => Message,
    write: (answer: Message) => Answer,
  ): Promise<Answer>;
}
