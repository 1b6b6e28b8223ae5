import { badRequest, quoted } from "@statehouse/errors";
import type { Group, ResourceObject } from "./resource.ts";

/** The requested includes as a tree: `run.created_by` is the name `run`, which maps to a tree with `created_by`. */
export interface IncludeTree extends ReadonlyMap<string, IncludeTree> {}
type MutableTree = Map<string, MutableTree>;

const unknownInclude = (name: string, allowed: readonly string[]) =>
  badRequest(
    "unknown_include",
    allowed.length === 0
      ? `The include parameter contains ${quoted(name)}; nothing can be included here.`
      : `The include parameter contains the unknown name ${quoted(name)}; expected any of ${allowed.join(", ")}.`,
  );

/**
 * Parses `include=a,b.c`. Names are in snake case; `-` is read as `_`. Throws `badRequest` for a name that is not in
 * `allowed`.
 */
export function parseInclude(value: string, allowed: readonly string[]): IncludeTree {
  const tree: MutableTree = new Map();
  for (const part of value.split(",")) {
    const path = part.trim().replaceAll("-", "_");
    if (path === "") continue;
    if (!allowed.includes(path)) throw unknownInclude(part.trim(), allowed);
    let level = tree;
    for (const name of path.split(".")) {
      const next: MutableTree = level.get(name) ?? new Map();
      level.set(name, next);
      level = next;
    }
  }
  return tree;
}

/**
 * Loads the includes level by level, for any number of parents. Each level makes one batched call for each name and
 * target type. Returns the loaded groups; several groups can contain the same resource.
 */
export async function resolveIncludes<Context>(
  primary: Group<Context>,
  tree: IncludeTree,
  context: Context,
): Promise<readonly Group<Context>[]> {
  const found: Group<Context>[] = [];
  let level = [{ group: primary, tree }];
  while (level.length > 0) {
    const requested = level.flatMap(({ group, tree }) =>
      [...tree].map(([name, nested]) => ({ group, name, nested })),
    );
    const brought = await Promise.all(
      requested.map(async ({ group, name, nested }) => {
        const groups = await group.load(name.replaceAll("_", "-"), context);
        return groups.map((group) => ({ group, tree: nested }));
      }),
    );
    level = brought.flat();
    found.push(...level.map(({ group }) => group));
  }
  return found;
}

/** Returns each resource object of `groups` once, and omits those that are in `primary`. */
export function distinct<Context>(
  primary: readonly ResourceObject[],
  groups: readonly Group<Context>[],
  context: Context,
): ResourceObject[] {
  const seen = new Set(primary.map(({ type, id }) => `${type} ${id}`));
  const included: ResourceObject[] = [];
  for (const group of groups) {
    for (const object of group.objects(context)) {
      const name = `${object.type} ${object.id}`;
      if (seen.has(name)) continue;
      seen.add(name);
      included.push(object);
    }
  }
  return included;
}
