export type Cell = string | number;

/** Prints a heading and rows in aligned columns: text to the left, numbers to the right. */
export function printTable(title: string, head: readonly string[], rows: readonly Cell[][]): void {
  const texts = [head, ...rows.map((row) => row.map(textOf))];
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const isNumeric = head.map((_, column) => rows.some((row) => typeof row[column] === "number"));
  const line = (row: readonly string[]) =>
    row
      .map((text, column) =>
        isNumeric[column] ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const [first = [], ...others] = texts;
  const rule = widths.map((width) => "─".repeat(width)).join("──");
  print(`\n${title}`, rule, line(first), rule, ...others.map(line), rule);
}

/** Prints lines to the standard output. */
export function print(...lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

function textOf(cell: Cell): string {
  if (typeof cell === "string") return cell;
  if (Number.isNaN(cell)) return "–";
  if (Math.abs(cell) >= 100 || Number.isInteger(cell)) return Math.round(cell).toLocaleString("en");
  return cell.toFixed(2);
}
