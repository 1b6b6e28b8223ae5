import { kebabCase } from "@statehouse/runtime";

/**
 * The JSON pointers of fields of the gRPC message that are not attributes of the same name in the body. Keys are field
 * paths with `[]` for any index; values are JSON pointers with `[]` for the same index. For example,
 * `{ "tagBindings[]": "/data/[]/attributes" }` turns `tagBindings[2].key` into `/data/2/attributes/key`. If the keys
 * of a map have other names in the body, the value is a function: it gets the key, which is the text in the last
 * brackets of the path, and returns the JSON pointer.
 */
export type Pointers = Readonly<Record<string, string | ((key: string) => string)>>;

/**
 * Returns the JSON pointer of a field path such as `vcsRepo.identifier` or `tagBindings[2].key`. The longest prefix of
 * the path that is in `pointers` applies. If there is none, the field is an attribute: `autoApply` becomes
 * `/data/attributes/auto-apply`.
 */
export function pointerOf(path: string, pointers: Pointers = {}): string {
  const segments = path.match(/[^.[\]]+|\[[^\]]*\]/g) ?? [];
  for (let length = segments.length; length > 0; length--) {
    const known = pointers[patternOf(segments.slice(0, length))];
    if (known !== undefined) return withIndices(known, segments) + below(segments.slice(length));
  }
  return `/data/attributes${below(segments)}`;
}

/** Returns the path with `[]` for each index, as in the keys of `pointers`. */
const patternOf = (segments: readonly string[]): string =>
  segments
    .map((segment, at) => (isIndex(segment) ? "[]" : at === 0 ? segment : `.${segment}`))
    .join("");

function withIndices(pointer: Pointers[string], segments: readonly string[]): string {
  const all = segments.filter(isIndex).map(unbracketed);
  if (typeof pointer !== "string") return pointer(all.at(-1) ?? "");
  const indices = all.values();
  return pointer.replaceAll("[]", () => indices.next().value ?? "");
}

const below = (segments: readonly string[]): string =>
  segments
    .map((segment) => `/${isIndex(segment) ? unbracketed(segment) : kebabCase(segment)}`)
    .join("");

const isIndex = (segment: string): boolean => segment.startsWith("[");
const unbracketed = (segment: string): string => segment.slice(1, -1);
