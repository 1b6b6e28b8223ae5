/** A pattern for LIKE that finds `part` anywhere, whatever characters it has. */
export const containing = (part: string): string =>
  `%${part.replaceAll("\0", "").replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
