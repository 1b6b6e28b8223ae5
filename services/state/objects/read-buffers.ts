const BYTES = 256 * 1024;
const KEPT = 16;

/**
 * Reused memory for reading. Node allocates memory for each read, and collecting it takes more processor time than
 * moving the bytes: with reused buffers a download takes a quarter of the processor time.
 */
export class ReadBuffers {
  readonly #free: ArrayBufferLike[] = [];
  readonly #lent = new WeakSet<ArrayBufferLike>();

  take(): Buffer {
    const memory = this.#free.pop() ?? Buffer.allocUnsafeSlow(BYTES).buffer;
    this.#lent.add(memory);
    return Buffer.from(memory);
  }

  /**
   * Returns the buffer that `chunk` is a part of to the pool; buffers that are not returned are garbage collected.
   */
  release(chunk: Uint8Array): void {
    if (this.#lent.delete(chunk.buffer) && this.#free.length < KEPT) this.#free.push(chunk.buffer);
  }
}
