import { randomUUID } from "node:crypto";

/** Stands for a `JsonText` in the output of JSON.stringify. Clients cannot send this text, because it is random. */
const placeholder = randomUUID();
const quoted = JSON.stringify(placeholder);

let texts: string[] = [];

/** JSON that another service has written. `stringify` copies it unchanged, without parsing it. */
export class JsonText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toJSON(): string {
    texts.push(this.#text);
    return placeholder;
  }
}

/** Works like JSON.stringify, for values that contain `JsonText`. */
export function stringify(value: unknown): string {
  texts = [];
  const rendered = JSON.stringify(value);
  if (texts.length === 0) return rendered;
  const [start = "", ...rest] = rendered.split(quoted);
  return start + rest.map((part, index) => `${texts[index]}${part}`).join("");
}
