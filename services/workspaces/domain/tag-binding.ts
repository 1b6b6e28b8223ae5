import type { Problems } from "@statehouse/errors";
import type { ProjectId, WorkspaceId } from "./ids.ts";

/** A key with a value on a workspace or project. A binding with an empty value is a flat tag. */
export interface TagBinding {
  id: TagBindingId;
  key: string;
  value: string;
  createdAt: Date;
}

/** A binding with its project. */
export interface ProjectTagBinding extends TagBinding {
  projectId: ProjectId;
}

/** A binding that a workspace has itself or inherits from its project. */
export interface EffectiveTagBinding extends TagBinding {
  workspaceId: WorkspaceId;
  inheritedFromProjectId: ProjectId | null;
}

export interface TagBindingInput {
  key: string;
  value: string;
}

/** The number of bindings with a value; flat tags do not count. */
const MAX_VALUED = 10;
/** Statehouse's own limit, because every document of the workspace shows them. */
const MAX_FLAT = 250;
const KEY = /^[A-Za-z0-9_.=+\-@:]{1,128}$/;
const VALUE = /^[A-Za-z0-9_.=+\-@:]{0,256}$/;
const RESERVED = /^hcp?:/i;

/** Adds the problems of a request's bindings, which are in the message field `tagBindings`. */
export function checkTagBindings(given: readonly TagBindingInput[], problems: Problems): void {
  const seen = new Set<string>();
  for (const [index, { key, value }] of given.entries()) {
    const problem = problemOfKey(key) ?? (seen.has(key) ? "Key is given twice" : undefined);
    if (problem !== undefined) problems.add(`tagBindings[${index}].key`, problem);
    if (!VALUE.test(value)) problems.add(`tagBindings[${index}].value`, problemOfValue(value));
    seen.add(key);
  }
}

/** Like the above for flat tags, whose key is called name in requests; a repeated name is one tag. */
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

/** Adds a problem if a workspace or project would have too many bindings. */
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

/** The existing and the given bindings by key; given ones take precedence. */
export const mergeTagBindings = (
  own: readonly TagBindingInput[],
  given: readonly TagBindingInput[],
): Map<string, string> => new Map([...own, ...given].map(({ key, value }) => [key, value]));

/** Validation problems of a key, in the words that clients match. */
export function problemOfKey(key: string, word = "Key"): string | undefined {
  if (key === "") return `${word} can't be blank`;
  if (key.length > 128) return `${word} is too long (maximum is 128 characters)`;
  if (!KEY.test(key)) return `${word} is invalid`;
  if (RESERVED.test(key)) return `${word} has a reserved prefix`;
  return undefined;
}

const problemOfValue = (value: string) =>
  value.length > 256 ? "Value is too long (maximum is 256 characters)" : "Value is invalid";

export type TagBindingId = `tb-${string}`;
