import type { DescMethod, Message } from "@bufbuild/protobuf";

/** The metadata of a call. */
export interface CallMetadata {
  assertion: string;
  traceparent: string | undefined;
  /**
   * The address of the API client, not of a trusted proxy in front of the gateway. Used only if the gateway asserts the
   * principal.
   */
  clientAddress?: string | undefined;
  /** Milliseconds since 1970. */
  deadline: number;
  /** The names in the caller's certificate; undefined if the server does not use TLS. The server sets them. */
  certificateNames?: readonly string[] | undefined;
}

/** A connection to one service. */
export interface Channel extends AsyncDisposable {
  /** The service at the other end, which is the audience of assertions. */
  readonly audience: string;
  /**
   * Sends a message of the method's input type and returns one of its output type. Neither the caller nor the service
   * may change these messages afterwards. Throws the service's AppError, or `unavailable` if the service does not
   * respond.
   */
  call(method: DescMethod, request: Message, metadata: CallMetadata): Promise<Message>;
}

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
