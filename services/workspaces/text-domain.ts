import { inWords, type Problems } from "@statehouse/errors";

/** Returns whether a string contains U+0000, which PostgreSQL cannot store and names never contain. */
export const holdsNul = (text: string): boolean => text.includes("\0");

/**
 * Maximum lengths of free texts, in characters, and maximum numbers of list entries. The API's documentation defines no
 * limits. These limits are far above practical values and keep pages of documents small.
 */
export const limits = {
  name: 255,
  description: 4096,
  workingDirectory: 1024,
  sourceName: 255,
  sourceUrl: 2048,
  samlRoleId: 255,
  triggers: 100,
  trigger: 1024,
} as const;

/** Checks the string in `field` and adds its problems to `problems`. */
export function checkText(field: string, text: string, most: number, problems: Problems): void {
  if (holdsNul(text)) problems.add(field, `${inWords(field)} is invalid`);
  else if (text.length > most) problems.add(field, tooLong(field, most));
}

/** Checks a name in which all characters are allowed, and adds its problems to `problems`. */
export function checkName(name: string, problems: Problems): void {
  if (name.trim() === "") problems.add("name", "Name can't be blank");
  else checkText("name", name, limits.name, problems);
}

/** Checks a list of at most `entries` strings in `field` and adds its problems to `problems`. */
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
