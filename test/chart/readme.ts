import { isMap, isScalar, type Node, parseDocument } from "yaml";

const DOCUMENTED = /^ ?-- /;

interface Row {
  path: string;
  value: string;
  description: string;
}

/** Returns the documentation in the comment above a key. */
const descriptionOf = (key: unknown): string => (isScalar(key) ? documented(key) : "");

/** Returns the text of a comment, beginning with the last line that starts with `--`. */
function documented({ commentBefore }: { commentBefore?: string | null }): string {
  const lines = (commentBefore ?? "").split("\n");
  const start = lines.findLastIndex((line) => DOCUMENTED.test(line));
  if (start < 0) return "";
  return lines
    .slice(start)
    .map((line) => line.replace(DOCUMENTED, "").trim())
    .join(" ");
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

function rowsOf(node: Node | null, path: readonly string[]): Row[] {
  if (!isMap(node)) return [];
  return node.items.flatMap((pair, index) => {
    const name = isScalar(pair.key) ? String(pair.key.value) : "";
    const within = [...path, name];
    const value = pair.value as Node | null;
    const description = descriptionOf(pair.key) || (index === 0 ? documented(node) : "");
    const nested = isMap(value) && value.items.length > 0;
    const deeper = nested ? rowsOf(value, within) : [];
    if (nested && description === "" && deeper.length > 0) return deeper;
    const shown = JSON.stringify(value?.toJSON() ?? null);
    const row = { path: within.join("."), value: nested ? "" : shown, description };
    return [row, ...deeper];
  });
}

/** The table of all values: path, default, description. */
export function valuesTable(values: string): string {
  const rows = rowsOf(parseDocument(values).contents, []);
  return [
    "| value | default | description |",
    "|---|---|---|",
    ...rows.map(({ path, value, description }) => {
      const shown = value === "" ? "" : `\`${cell(value)}\``;
      return `| \`${path}\` | ${shown} | ${cell(description)} |`;
    }),
  ].join("\n");
}

/** Returns `readme` with the generated table between the markers. */
export function withTable(readme: string, values: string): string {
  const [before = "", rest = ""] = readme.split("<!-- values -->");
  const [, after = ""] = rest.split("<!-- end of values -->");
  return `${before}<!-- values -->\n${valuesTable(values)}\n<!-- end of values -->${after}`;
}
