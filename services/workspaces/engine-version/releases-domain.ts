/** Returns the patch releases 0 to `last` of the minor version `line`, for example `1.0.0` to `1.0.11`. */
const range = (line: string, last: number): string[] =>
  Array.from({ length: last + 1 }, (_, patch) => `${line}.${patch}`);

/** The releases that are known by default. ENGINE_VERSIONS replaces this list. */
export const engineReleases: readonly string[] = [
  "0.12.31",
  "0.13.7",
  "0.14.11",
  "0.15.5",
  ...range("1.0", 11),
  ...range("1.1", 9),
  ...range("1.2", 9),
  ...range("1.3", 10),
  ...range("1.4", 7),
  ...range("1.5", 7),
  ...range("1.6", 6),
  ...range("1.7", 5),
  ...range("1.8", 5),
  ...range("1.9", 8),
  ...range("1.10", 5),
  ...range("1.11", 4),
];
