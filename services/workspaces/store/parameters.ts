/** Collects the values of a statement whose conditions vary, and names their places. */
export class Parameters {
  readonly values: unknown[] = [];

  /** The placeholder of `value`. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}
