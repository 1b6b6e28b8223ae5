/** The results of all callers for one row. A result is undefined if the row does not apply to the caller. */
export interface Line {
  name: string;
  /** Results keyed by the callers' names. */
  cells: ReadonlyMap<string, number | undefined>;
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ROOM = 116;

const cell = (status: number | undefined): string =>
  status === undefined ? "-" : status === 404 ? "." : String(status);

/**
 * Groups the callers that have equal results in every line: they share a column. The largest group is the last column.
 */
function fold(callers: readonly string[], lines: readonly Line[]): string[][] {
  const columns = new Map<string, string[]>();
  for (const caller of callers) {
    const fate = lines.map(({ cells }) => cell(cells.get(caller))).join(" ");
    columns.set(fate, [...(columns.get(fate) ?? []), caller]);
  }
  const folded = [...columns.values()];
  const crowd = folded.toSorted((a, b) => b.length - a.length)[0];
  return [...folded.filter((column) => column !== crowd), ...(crowd ? [crowd] : [])];
}

/** Joins the words with semicolons and wraps them into lines. */
function wrap(words: readonly string[], indent: string): string[] {
  const lines: string[] = [];
  for (const [index, word] of words.entries()) {
    const text = index < words.length - 1 ? `${word};` : word;
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= ROOM) {
      lines[lines.length - 1] = `${last} ${text}`;
    } else lines.push(`${indent}${text}`);
  }
  return lines;
}

/**
 * Returns the table of one group of routes: a row for each route, and a column for each set of callers with equal
 * results in this group.
 */
function groupTable(title: string, callers: readonly string[], lines: readonly Line[]): string[] {
  const columns = fold(callers, lines);
  const width = Math.max(...lines.map(({ name }) => name.length));
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)} ${cells.map((text) => text.padStart(3)).join(" ")}`.trimEnd();
  const legend = columns.flatMap((names, index) => {
    const crowd = index === columns.length - 1 && names.length > 8;
    const [first = "", ...rest] = wrap(crowd ? ["all other callers"] : names, "    ");
    return [`  ${letters[index]} ${first.trimStart()}`, ...rest];
  });
  return [
    "",
    `== ${title}`,
    ...legend,
    "",
    row(
      "",
      columns.map((_, index) => letters[index] ?? "?"),
    ),
    ...lines.map(({ name, cells }) =>
      row(
        name,
        columns.map(([first = ""]) => cell(cells.get(first))),
      ),
    ),
  ];
}

/** Returns the authorization matrix as text. */
export const matrixText = (
  preface: string,
  callers: readonly string[],
  groups: ReadonlyMap<string, readonly Line[]>,
): string =>
  [
    preface,
    "Callers:",
    ...wrap(callers, "  "),
    ...[...groups].flatMap(([title, lines]) => groupTable(title, callers, lines)),
    "",
  ].join("\n");
