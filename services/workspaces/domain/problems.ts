import { type FieldError, invalid } from "@statehouse/errors";

/** Collects what is wrong with a request, so that its answer names everything at once. */
export class Problems {
  readonly #fields: FieldError[];
  readonly #known: ReadonlySet<string>;

  /** `known`: what was found before. What is found in the same places only follows from it. */
  constructor(known: readonly FieldError[] = []) {
    this.#fields = [...known];
    this.#known = new Set(known.map(({ field }) => pointerTo(field)));
  }

  /** `field`: the attribute as the wire spells it, or a JSON pointer. */
  add(field: string, detail: string): void {
    if (!this.#known.has(pointerTo(field))) this.#fields.push({ field, detail });
  }

  /** Throws `invalid` with every problem found so far, if any. */
  throwIfAny(): void {
    if (this.#fields.length > 0) throw invalid(this.#fields);
  }
}

const pointerTo = (field: string): string =>
  field.startsWith("/") ? field : `/data/attributes/${field}`;
