/** Returns the bytes as the type that grpc-js sends. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Metadata key of the caller's assertion. */
export const assertionKey = "statehouse-assertion";
/** Metadata key of the API client's address. */
export const clientAddressKey = "statehouse-client-address";
/** Metadata key of the W3C trace context. */
export const traceparentKey = "traceparent";
/**
 * The maximum size of a response, and of the largest request that a method may declare (ADR 48). State bytes are never
 * sent through gRPC.
 */
export const maxMessageBytes = 128 * 1024 * 1024;
