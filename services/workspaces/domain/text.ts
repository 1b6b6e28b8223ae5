import type { Problems } from "@statehouse/errors";

/** PostgreSQL cannot keep this character, and no name holds it. */
export const holdsNul = (text: string): boolean => text.includes("\0");

/** The words for a field in a problem's detail: `workingDirectory` gives `Working directory`. */
export const inWords = (field: string): string => {
  const words = field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/**
 * The most characters of free texts, and entries of lists. The specification has no limits; these are far
 * above what people write, and keep a page of documents small.
 */
export const limits = {
  description: 4096,
  workingDirectory: 1024,
  sourceName: 255,
  sourceUrl: 2048,
  samlRoleId: 255,
  triggers: 100,
  trigger: 1024,
} as const;

/** Adds to `problems` what is wrong with a text of `field`. */
export function checkText(field: string, text: string, most: number, problems: Problems): void {
  if (holdsNul(text)) problems.add(field, `${inWords(field)} is invalid`);
  else if (text.length > most) problems.add(field, tooLong(field, most));
}

/** The same for a list of texts, at most `entries` of them. */
export function checkTexts(
  field: string,
  texts: readonly string[],
  { entries, characters }: { entries: number; characters: number },
  problems: Problems,
): void {
  if (texts.length > entries) {
    problems.add(field, `${inWords(field)} has too many entries (maximum is ${entries})`);
  }
  if (texts.some(holdsNul)) problems.add(field, `${inWords(field)} is invalid`);
  else if (texts.some(({ length }) => length > characters)) {
    problems.add(field, tooLong(field, characters));
  }
}

const tooLong = (field: string, most: number) =>
  `${inWords(field)} is too long (maximum is ${most} characters)`;
