import { type FieldError, invalid } from "./app-error.ts";

/** Collects the problems of one request, so that its error lists all of them. */
export class Problems {
  readonly #fields: FieldError[] = [];

  /** `fieldPath`: the field of the request message, as `name`, `vcsRepo.identifier` or `tagBindings[2].key`. */
  add(fieldPath: string, detail: string): void {
    this.#fields.push({ field: fieldPath, detail });
  }

  /** Throws `invalid` with every problem added so far, if any. */
  throwIfAny(): void {
    if (this.#fields.length > 0) throw invalid(this.#fields);
  }
}
