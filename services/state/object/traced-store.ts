import { withClientSpan } from "@statehouse/runtime";
import type { BlobStore } from "./store.ts";

/** Adds a trace span to every call that moves or deletes bytes. */
export const tracedStore = (store: BlobStore): BlobStore => ({
  put: (key, body, expected, signal) =>
    withClientSpan("blob store put", { size: expected.size }, () =>
      store.put(key, body, expected, signal),
    ),
  get: (key, open, signal, range) =>
    withClientSpan("blob store get", {}, () => store.get(key, open, signal, range)),
  sizeOf: (key) => store.sizeOf(key),
  delete: (keys) =>
    withClientSpan("blob store delete", { keys: keys.length }, () => store.delete(keys)),
  list: (from) => store.list(from),
  ready: () => store.ready(),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
});
