/** A name that the product does not serve. A `*` in the pattern stands for any text. */
export interface NotServed {
  readonly pattern: string;
  readonly reason: string;
}

/** Reads the list: a line with a reason, followed by indented names. Throws if a name has no reason. */
export function readNotServed(text: string): NotServed[] {
  const list: NotServed[] = [];
  let reason = "";
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) reason = "";
    else if (!line.startsWith("  ")) reason = line;
    else if (reason === "") throw new Error(`${line.trim()} has no reason.`);
    else list.push({ pattern: line.trim(), reason });
  }
  return list;
}

/** Returns whether the pattern matches the name. */
export function matches({ pattern }: NotServed, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.?+^$()[\]{}|\\/]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}
