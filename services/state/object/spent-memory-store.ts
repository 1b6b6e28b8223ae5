const detachable = new WeakSet<ArrayBufferLike>();

/** Declares that nothing else reads the memory of this chunk, so that `detach` may free it after the chunk was sent. */
export function markDetachable(chunk: Uint8Array): void {
  if (chunk.byteLength === chunk.buffer.byteLength) detachable.add(chunk.buffer);
}

/**
 * Frees the memory of a chunk that was passed to `markDetachable`; does nothing for other chunks. Without this, the
 * memory outside the JavaScript heap makes the garbage collector run every 32 MiB, which takes half of the processor
 * time of an upload.
 */
export function detach({ buffer }: Uint8Array): void {
  if (detachable.delete(buffer) && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
