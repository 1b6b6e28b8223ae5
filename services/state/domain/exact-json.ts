// Of ES2026; TypeScript's library does not describe them yet.
declare global {
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Parses JSON so that writing it again loses nothing: numbers that JavaScript would round or respell
 * (twenty digits, 1.0) keep their text. Throws `SyntaxError`.
 */
export const parseExactJson = (text: string): unknown =>
  JSON.parse(text, (_key: string, value: unknown, context: { source?: string }) =>
    typeof value === "number" && context.source !== undefined && context.source !== String(value)
      ? JSON.rawJSON(context.source)
      : value,
  );

/** The number that a JSON text says; where JavaScript would round or respell it, its text. */
export function exactNumber(text: string): number {
  const value = Number(text);
  // A raw number passes for one until it is looked at: `isExactNumber`.
  return String(value) === text ? value : (JSON.rawJSON(text) as unknown as number);
}

/** True for numbers that were kept as text. */
export const isExactNumber = (value: unknown): boolean => JSON.isRawJSON(value);
