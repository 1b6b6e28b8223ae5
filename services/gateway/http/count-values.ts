const [QUOTE, COMMA, LIST, BACKSLASH, OBJECT] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b];

/**
 * Returns an upper bound for the number of values in a JSON text: counts the characters that begin or separate values
 * and are not part of a string. Stops counting above `limit`.
 */
export function countValues(bytes: Uint8Array, limit: number): number {
  let count = 1;
  for (let index = 0; index < bytes.length && count <= limit; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfString(bytes, index + 1);
    else if (byte === COMMA || byte === LIST || byte === OBJECT) count++;
  }
  return count;
}

/**
 * Returns the index of the quote that ends the string whose text begins at `from`; `bytes.length` if the string does
 * not end.
 */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let quote = bytes.indexOf(QUOTE, from); quote !== -1; ) {
    let text = quote;
    while (text > from && bytes[text - 1] === BACKSLASH) text--;
    // An even number of backslashes are escaped backslashes; an odd number escapes the quote.
    if ((quote - text) % 2 === 0) return quote;
    quote = bytes.indexOf(QUOTE, quote + 1);
  }
  return bytes.length;
}
