/** Metadata that carries the caller's assertion. */
export const assertionKey = "statehouse-assertion";
/** W3C trace context. */
export const traceparentKey = "traceparent";
/** The largest message either side takes; state bytes never travel through gRPC. Lists are split: parts.ts. */
export const maxMessageBytes = 16 * 1024 * 1024;
