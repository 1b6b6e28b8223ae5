import { randomBytes } from "node:crypto";

// Without 0, O, I and l: ids are read aloud and typed.
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789";
const LENGTH = 16;
/** The largest multiple of the alphabet's size in a byte: bytes above it would favour its first letters. */
const UNBIASED = 256 - (256 % ALPHABET.length);

/** A new id such as `ws-` and 16 random letters and digits: at least 93 bits, never reused. */
export function newId<Prefix extends string>(prefix: Prefix): `${Prefix}-${string}` {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of randomBytes(LENGTH)) {
      if (byte < UNBIASED && id.length < LENGTH) id += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${prefix}-${id}`;
}
