import { randomBytes } from "node:crypto";

// Omits 0, O, I and l, which users easily confuse when they read or type ids.
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789";
const LENGTH = 16;
/**
 * The largest multiple of the alphabet's size that is at most 256. Random bytes at or above this number are skipped,
 * because they would favour the first characters of the alphabet.
 */
const UNBIASED = 256 - (256 % ALPHABET.length);

/** The pattern of ids. Ids of other systems (runs, OAuth tokens) can be shorter or longer than those of `newId`. */
const FORM = /^[a-z]+-[A-Za-z0-9]{1,64}$/;

/**
 * Returns a new id: the prefix and 16 random letters and digits, for example `ws-…`. With at least 93 random bits, ids
 * do not collide.
 */
export function newId<Prefix extends string>(prefix: Prefix): `${Prefix}-${string}` {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of randomBytes(LENGTH)) {
      if (byte < UNBIASED && id.length < LENGTH) id += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${prefix}-${id}`;
}

/** Returns whether `text` has the form of an id with this prefix. Text of any other form cannot identify a row. */
export const isId = <Prefix extends string>(
  prefix: Prefix,
  text: string,
): text is `${Prefix}-${string}` => text.startsWith(`${prefix}-`) && FORM.test(text);

/** Returns `text` as an id with this prefix; undefined if the text does not have the form of such an id. */
export const parseId = <Prefix extends string>(
  prefix: Prefix,
  text: string,
): `${Prefix}-${string}` | undefined => (isId(prefix, text) ? text : undefined);

/**
 * Returns the strings that have the form of an id with this prefix. Batch requests ignore all other strings, just as
 * they ignore unknown ids.
 */
export const idsIn = <Prefix extends string>(prefix: Prefix, texts: readonly string[]) =>
  texts.filter((text): text is `${Prefix}-${string}` => isId(prefix, text));
