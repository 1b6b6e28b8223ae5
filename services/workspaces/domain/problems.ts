import { type FieldError, invalid } from "@statehouse/errors";

/** Collects what is wrong with a request, so that its answer names everything at once. */
export class Problems {
  readonly #fields: FieldError[] = [];

  /** `field`: the attribute as the wire spells it, or a JSON pointer. */
  add(field: string, detail: string): void {
    this.#fields.push({ field, detail });
  }

  /** Throws `invalid` with every problem found so far, if any. */
  throwIfAny(): void {
    if (this.#fields.length > 0) throw invalid(this.#fields);
  }
}
