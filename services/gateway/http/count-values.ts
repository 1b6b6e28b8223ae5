const [COMMA, LIST, OBJECT] = [0x2c, 0x5b, 0x7b];

/**
 * Returns an upper bound for the number of values in a JSON text: counts the characters that begin or separate values.
 * Stops counting above `limit`.
 */
export function countValues(bytes: Uint8Array, limit: number): number {
  let count = 1;
  for (let index = 0; index < bytes.length && count <= limit; index++) {
    const byte = bytes[index];
    if (byte === COMMA || byte === LIST || byte === OBJECT) count++;
  }
  return count;
}
