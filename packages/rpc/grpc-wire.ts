/** Metadata that carries the caller's assertion. */
export const assertionKey = "statehouse-assertion";
/** W3C trace context. */
export const traceparentKey = "traceparent";
/** The largest request or response (ADR 48). State bytes are never sent through gRPC. */
export const maxMessageBytes = 128 * 1024 * 1024;
