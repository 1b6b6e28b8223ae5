// These functions are part of ES2026, but TypeScript's library does not contain them yet.
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
 * source text. Throws `SyntaxError`.
 */
export const parseExactJson = (text: string): unknown =>
  JSON.parse(text, (_key: string, value: unknown, context: { source?: string }) =>
    typeof value === "number" && context.source !== undefined && context.source !== String(value)
      ? JSON.rawJSON(context.source)
      : value,
  );

/**
 * Returns the number that the JSON text contains, or a raw JSON number if JavaScript would round it or write it
 * differently.
 */
export function exactNumber(text: string): number {
  const value = Number(text);
  // A raw JSON number has the type `number` here; check for it with `isExactNumber`.
  return String(value) === text ? value : (JSON.rawJSON(text) as unknown as number);
}

/** Returns whether the value is a raw JSON number, which keeps its source text. */
export const isExactNumber = (value: unknown): boolean => JSON.isRawJSON(value);
