/**
 * Maximum length of a field name in an error's detail. Every field name of the API is shorter, so only map keys that
 * clients choose are cut.
 */
const MAX_FIELD = 80;

/**
 * Returns a field's words for the start of an error's detail: `vcsRepo.oauthTokenId` becomes `Oauth token id`, and
 * `permissions[run-tasks]` becomes `Run tasks`.
 */
export function inWords(fieldPath: string): string {
  const [name = fieldPath] = /[^.[\]/]+(?=\]?$)/.exec(fieldPath) ?? [];
  const words = name
    .replaceAll(/[-_]/g, " ")
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return shortened(words.charAt(0).toUpperCase() + words.slice(1), MAX_FIELD);
}

const MAX_QUOTED = 40;

/**
 * Formats a value for an error's detail: in quotes, cut at 40 characters, with control characters escaped. Must not be
 * used for secrets.
 */
export const quoted = (value: string): string => `'${shortened(value, MAX_QUOTED)}'`;

/** Returns the first `most` characters of a string, with control characters escaped. */
function shortened(text: string, most: number): string {
  const characters = [...text];
  const escaped = characters
    .slice(0, most)
    .join("")
    .replaceAll(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    );
  return characters.length > most ? `${escaped}…` : escaped;
}
