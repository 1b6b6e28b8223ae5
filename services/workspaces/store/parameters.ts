/** Collects the values of a statement whose conditions vary, and names their places. */
export class Parameters {
  readonly values: unknown[] = [];

  /** The placeholder of `value`. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

const literal = (text: string): string =>
  text.replaceAll("\0", "").replaceAll(/[\\%_]/g, String.raw`\$&`);

/** A pattern for LIKE that finds `part` anywhere, whatever characters it has. */
export const containing = (part: string): string => `%${literal(part)}%`;

/** A pattern for LIKE of a text in which `*` at either end stands for anything. */
export function withStars(text: string): string {
  const [, before = "", middle = "", after = ""] = /^(\**)(.*?)(\**)$/s.exec(text) ?? [];
  return `${before && "%"}${literal(middle)}${after && "%"}`;
}
