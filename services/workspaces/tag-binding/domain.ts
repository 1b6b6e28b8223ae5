import type { Problems } from "@statehouse/errors";
import type { ProjectId, WorkspaceId } from "../ids-domain.ts";

/** A key with a value on a workspace or project. A binding with an empty value is a flat tag. */
export interface TagBinding {
  id: TagBindingId;
  key: string;
  value: string;
  /** Whether the binding was added as a flat tag. Such bindings are not effective tag bindings. */
  throughTags: boolean;
  createdAt: Date;
}

/** A tag binding of a project. */
export interface ProjectTagBinding extends TagBinding {
  projectId: ProjectId;
}

/** A binding that a workspace has itself or inherits from its project. */
export interface EffectiveTagBinding extends TagBinding {
  workspaceId: WorkspaceId;
  inheritedFromProjectId: ProjectId | null;
}

/** A condition on tag bindings, own (including flat tags) or inherited. An empty key or value matches anything. */
export interface TagFilter {
  key: string;
  value: string;
}

export interface TagBindingInput {
  key: string;
  value: string;
}

/**
 * Maximum number of bindings with a non-empty value; flat tags do not count. Also the maximum number of bindings in one
 * request.
 */
const MAX_VALUED = 10;
/** Maximum number of flat tags. Statehouse limits them because every document of the workspace contains them. */
const MAX_FLAT = 250;
const KEY = /^[A-Za-z0-9_.=+\-@:]{1,128}$/;
const VALUE = /^[A-Za-z0-9_.=+\-@:]{0,256}$/;
const RESERVED = /^hcp?:/i;

/** Checks the bindings of a request, in the field `tagBindings`, and adds their problems to `problems`. */
export function checkTagBindings(requested: readonly TagBindingInput[], problems: Problems): void {
  if (requested.length > MAX_VALUED) {
    problems.add(
      "tagBindings",
      `Tag bindings are too many (maximum is ${MAX_VALUED} in a request)`,
    );
  }
  const seen = new Set<string>();
  for (const [index, { key, value }] of requested.entries()) {
    const problem = problemOfKey(key) ?? (seen.has(key) ? "Key is given twice" : undefined);
    if (problem !== undefined) problems.add(`tagBindings[${index}].key`, problem);
    if (!VALUE.test(value)) problems.add(`tagBindings[${index}].value`, problemOfValue(value));
    seen.add(key);
  }
}

/**
 * Checks the flat tags of a request. The messages call the key "name", as requests do. A name that is repeated counts
 * as one tag.
 */
export function checkTagNames(
  names: readonly string[],
  problems: Problems,
  pathOf: (index: number) => string,
): void {
  for (const [index, name] of names.entries()) {
    const problem = problemOfKey(name, "Name");
    if (problem !== undefined) problems.add(pathOf(index), problem);
  }
}

/** Adds a problem if the workspace or project would have too many bindings. */
export function checkTagBindingCount(
  keysAndValues: ReadonlyMap<string, string>,
  problems: Problems,
  path = "tagBindings",
): void {
  const valued = [...keysAndValues.values()].filter((value) => value !== "");
  if (valued.length > MAX_VALUED) {
    problems.add(path, `Tag bindings are too many (maximum is ${MAX_VALUED})`);
  }
  if (keysAndValues.size - valued.length > MAX_FLAT) {
    problems.add(path, `Tags are too many (maximum is ${MAX_FLAT})`);
  }
}

/**
 * Returns a map from key to value that combines the existing bindings `own` with the requested bindings `requested`.
 * The requested bindings take precedence.
 */
export const mergeTagBindings = (
  own: readonly TagBindingInput[],
  requested: readonly TagBindingInput[],
): Map<string, string> => new Map([...own, ...requested].map(({ key, value }) => [key, value]));

/** Returns the problem of an invalid key, in the exact words that clients search for; undefined if the key is valid. */
export function problemOfKey(key: string, word = "Key"): string | undefined {
  if (key === "") return `${word} can't be blank`;
  if (key.length > 128) return `${word} is too long (maximum is 128 characters)`;
  if (!KEY.test(key)) return `${word} is invalid`;
  if (RESERVED.test(key)) return `${word} has a reserved prefix`;
  return undefined;
}

/**
 * Returns the bindings that were added as flat tags. A request that replaces the bindings keeps them, because the
 * configuration provider sends a workspace's bindings and its flat tags in separate requests.
 */
export const flatTagsOf = (current: readonly TagBinding[]): TagBinding[] =>
  current.filter(({ throughTags }) => throughTags);

/**
 * Returns the keys of `after` that are flat tags after a request has added flat tags: those that were flat tags
 * before, and all new keys.
 */
export function tagKeysAfterAdding(
  current: readonly Pick<TagBinding, "key" | "throughTags">[],
  after: ReadonlyMap<string, string>,
): Set<string> {
  const bound = new Set(current.filter(({ throughTags }) => !throughTags).map(({ key }) => key));
  return new Set(after.keys()).difference(bound);
}

/**
 * Returns the flat tags that remain after a request has set the bindings `requested`: the flat tags whose keys the
 * request does not set.
 */
export function tagKeysAfterBinding(
  current: readonly Pick<TagBinding, "key" | "throughTags">[],
  requested: readonly TagBindingInput[],
): Set<string> {
  const tags = new Set(current.filter(({ throughTags }) => throughTags).map(({ key }) => key));
  return tags.difference(new Set(requested.map(({ key }) => key)));
}

const problemOfValue = (value: string) =>
  value.length > 256 ? "Value is too long (maximum is 256 characters)" : "Value is invalid";

export type TagBindingId = `tb-${string}`;

/**
 * Returns whether the wanted bindings, a map from key to value, differ from the current ones. `tagKeys` are the keys of
 * the wanted bindings that are flat tags; it is omitted for projects, which have no flat tags.
 */
export const changesTagBindings = (
  current: readonly Pick<TagBinding, "key" | "value" | "throughTags">[],
  after: ReadonlyMap<string, string>,
  tagKeys: ReadonlySet<string> = new Set(),
): boolean =>
  current.length !== after.size ||
  current.some(
    ({ key, value, throughTags }) => after.get(key) !== value || tagKeys.has(key) !== throughTags,
  );
