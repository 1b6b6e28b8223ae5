import type { JsonSchema } from "../jsonapi/shape.ts";

/** Collects the parameters of operations. Parameters that several operations share become components. */
export function createParameters() {
  const uses = new Map<string, { parameter: JsonSchema; count: number; name: string }>();
  const taken = new Set<string>();

  /** Returns an unused name of letters, digits, underscores and hyphens for the parameter's component. */
  const nameOf = ({ name }: JsonSchema): string => {
    const words = String(name)
      .split(/\W+/)
      .filter((word) => word !== "");
    for (let number = 1; ; number++) {
      const candidate = [...words, ...(number > 1 ? [number] : [])].join("-");
      if (taken.has(candidate)) continue;
      taken.add(candidate);
      return candidate;
    }
  };

  return {
    /** Registers the parameters of one operation. */
    add(parameters: readonly JsonSchema[]): void {
      for (const parameter of parameters) {
        const key = JSON.stringify(parameter);
        const known = uses.get(key);
        if (known) known.count += 1;
        else uses.set(key, { parameter, count: 1, name: nameOf(parameter) });
      }
    },
    /** Returns the parameter itself, or a reference if the parameter became a component. */
    referTo(parameter: JsonSchema): JsonSchema {
      const use = uses.get(JSON.stringify(parameter));
      return use && use.count > 1 ? { $ref: `#/components/parameters/${use.name}` } : parameter;
    },
    /** Returns the parameters that are used more than once, keyed by the name of their component. */
    shared: (): Readonly<Record<string, JsonSchema>> =>
      Object.fromEntries(
        [...uses.values()]
          .filter(({ count }) => count > 1)
          .map(({ name, parameter }) => [name, parameter] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
  };
}
