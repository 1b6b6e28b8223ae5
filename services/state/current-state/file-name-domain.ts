const MAX_LENGTH = 120;
/** Windows reserves these names, even with an extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");

/**
 * Converts a text to a file name that has no extension and that every file system accepts. Characters other than ASCII
 * letters, digits, `-` and `_` are escaped, for example `/` as `%2F`.
 */
export function safeFileName(text: string): string {
  if (RESERVED.test(text)) return escaped(text.slice(0, 1)) + text.slice(1);
  return text.replace(/[^A-Za-z0-9_-]/gu, escaped).slice(0, MAX_LENGTH) || "%";
}

/**
 * Returns a function that makes paths `folder/name.tfstate`. No two paths are equal, even on file systems that ignore
 * case.
 */
export function createStatePaths(): (place: {
  folder: string;
  name: string;
  id: string;
}) => string {
  const taken = new Set<string>();
  return ({ folder, name, id }) => {
    const plain = `${folder}/${safeFileName(name)}`;
    // Unique, because no safe name contains `~`.
    const path = taken.has(plain.toLowerCase()) ? `${plain}~${safeFileName(id)}` : plain;
    taken.add(path.toLowerCase());
    return `${path}.tfstate`;
  };
}
