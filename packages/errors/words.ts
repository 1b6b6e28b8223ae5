/**
 * The words for a field at the start of an error's detail: `vcsRepo.oauthTokenId` gives `Oauth token id`,
 * `permissions[run-tasks]` gives `Run tasks`.
 */
export function inWords(fieldPath: string): string {
  const [name = fieldPath] = /[^.[\]/]+(?=\]?$)/.exec(fieldPath) ?? [];
  const words = name
    .replaceAll(/[-_]/g, " ")
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const MAX_QUOTED = 40;

/**
 * Formats a value for an error's detail: in quotes, cut at 40 characters, with control characters escaped. Not for
 * secrets.
 */
export function quoted(value: string): string {
  const characters = [...value];
  const shown = characters.slice(0, MAX_QUOTED).join("");
  const escaped = shown.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return `'${escaped}${characters.length > MAX_QUOTED ? "…" : ""}'`;
}
