// Part of ES2026; TypeScript's library does not contain them yet.
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
 * Parses JSON without loss: numbers that JavaScript would round or write differently (twenty digits, 1.0) keep their
 * text. Throws `SyntaxError`.
 */
export const parseExactJson = (text: string): unknown =>
  JSON.parse(text, (_key: string, value: unknown, context: { source?: string }) =>
    typeof value === "number" && context.source !== undefined && context.source !== String(value)
      ? JSON.rawJSON(context.source)
      : value,
  );

/** The number of a JSON text; its text if JavaScript would round it or write it differently. */
export function exactNumber(text: string): number {
  const value = Number(text);
  // A raw number has the type of a number: check it with `isExactNumber`.
  return String(value) === text ? value : (JSON.rawJSON(text) as unknown as number);
}

/** True for numbers that were kept as text. */
export const isExactNumber = (value: unknown): boolean => JSON.isRawJSON(value);
