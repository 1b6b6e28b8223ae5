/**
 * The nouns of a service's store that have this part, with the part made of what is given to all of them:
 * `tx.<noun>` of `rows`, `app.reads.<noun>` of `reads`.
 */
export type PartsOf<Nouns, Part extends string> = {
  [Name in keyof Nouns as Nouns[Name] extends Record<Part, unknown>
    ? Name
    : never]: Nouns[Name] extends Record<Part, (...given: never[]) => infer Made> ? Made : never;
};

/** Makes one part of every noun that has it. The hub of a store, `store/nouns.ts`, is made of such folds. */
export const partsOf = <Nouns extends Record<string, object>, Part extends string>(
  nouns: Nouns,
  part: Part,
  ...given: unknown[]
): PartsOf<Nouns, Part> =>
  Object.fromEntries(
    Object.entries<Partial<Record<string, unknown>>>(nouns).flatMap(([name, noun]) => {
      const make = noun[part];
      return typeof make === "function" ? [[name, make(...given)]] : [];
    }),
  ) as PartsOf<Nouns, Part>;
