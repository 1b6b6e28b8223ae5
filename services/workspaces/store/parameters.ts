/** Collects the values of a statement with variable conditions, and returns their placeholders. */
export class Parameters {
  readonly values: unknown[] = [];

  /** The placeholder for `value`. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

const literal = (text: string): string =>
  text.replaceAll("\0", "").replaceAll(/[\\%_]/g, String.raw`\$&`);

/** A LIKE pattern that finds `part` anywhere in a text; special characters are escaped. */
export const containing = (part: string): string => `%${literal(part)}%`;

/** A LIKE pattern for a text in which `*` at either end is a wildcard. */
export function withStars(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === "*") start++;
  while (end > start && text[end - 1] === "*") end--;
  const before = start > 0 ? "%" : "";
  const after = end < text.length ? "%" : "";
  return `${before}${literal(text.slice(start, end))}${after}`;
}
