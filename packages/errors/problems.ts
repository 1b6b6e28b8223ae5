import { type FieldError, invalid } from "./app-error.ts";

/** Collects all problems of one request, so that one error reports them together. */
export class Problems {
  readonly #fields: FieldError[] = [];

  /**
   * `fieldPath` is the path of the field in the request's message: `name`, `vcsRepo.identifier` or
   * `tagBindings[2].key`.
   */
  add(fieldPath: string, detail: string): void {
    this.#fields.push({ field: fieldPath, detail });
  }

  get areEmpty(): boolean {
    return this.#fields.length === 0;
  }

  /** Throws `invalid` with all added problems, if there are any. */
  throwIfAny(): void {
    if (this.#fields.length > 0) throw invalid(this.#fields);
  }
}
