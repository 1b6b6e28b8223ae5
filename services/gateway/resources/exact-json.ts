/** Part of JavaScript (JSON.parse source text access), not yet of TypeScript's library. */
interface ExactJson {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(source: string): unknown;
}

const json = JSON as unknown as ExactJson;

/** Parses JSON so that every number is written again digit for digit, at any length. */
export const parseExact = (text: string): unknown =>
  json.parse(text, (_name, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source
      ? json.rawJSON(source)
      : value,
  );
