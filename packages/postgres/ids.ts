import { randomBytes } from "node:crypto";

// Without 0, O, I and l, which are easily confused when users read or type ids.
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789";
const LENGTH = 16;
/**
 * The largest multiple of the alphabet's size in a byte. Bytes above it would favour the first letters of the
 * alphabet.
 */
const UNBIASED = 256 - (256 % ALPHABET.length);

/** Ids of other systems (runs, OAuth tokens) can be shorter or longer than those of `newId`. */
const FORM = /^[a-z]+-[A-Za-z0-9]{1,64}$/;

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

/** True if `text` has the form of an id with this prefix. Any other text cannot identify a row. */
export const isId = <Prefix extends string>(
  prefix: Prefix,
  text: string,
): text is `${Prefix}-${string}` => text.startsWith(`${prefix}-`) && FORM.test(text);
