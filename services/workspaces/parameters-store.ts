import { offsetOf, type PageInput } from "@statehouse/postgres";

/** Collects the values of an SQL statement whose conditions vary, and returns their placeholders. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value and returns its placeholder, for example `$1`. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds the limits of a page and returns the SQL that restricts rows to the page. */
  limits(page: PageInput): string {
    return `limit ${this.bind(page.size)} offset ${this.bind(offsetOf(page))}`;
  }
}

const literal = (text: string): string =>
  text.replaceAll("\0", "").replaceAll(/[\\%_]/g, String.raw`\$&`);

/** Returns a LIKE pattern that matches strings containing `part`; special characters are escaped. */
export const containing = (part: string): string => `%${literal(part)}%`;

/** Returns a LIKE pattern for a string in which `*` at the beginning or end is a wildcard. */
export function withStars(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === "*") start++;
  while (end > start && text[end - 1] === "*") end--;
  const before = start > 0 ? "%" : "";
  const after = end < text.length ? "%" : "";
  return `${before}${literal(text.slice(start, end))}${after}`;
}
