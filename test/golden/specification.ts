import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/*
 * test/golden/specification/<area>.golden.txt says which test proves which row of the specification's tables:
 *
 *   # a comment
 *   Attributes of a workspace
 *     name: required, unique within the organization
 *       test/system/workspace.test.ts: a name is free again after a rename
 *
 * A table's heading stands at the margin; its rows are indented by two spaces, the tests of a row by four. A
 * test is named as its file writes it, with the `%s` of a test that is run for each of several values.
 */
const folder = path.join(import.meta.dirname, "specification");
const root = path.join(import.meta.dirname, "../..");

export interface Row {
  /** The golden file, the table and the row, to be found again. */
  name: string;
  tests: Proof[];
}

/** A test, by its file from the root and its name. */
export interface Proof {
  file: string;
  test: string;
}

/** The golden files, by their names. */
export const goldenFiles = (): string[] =>
  readdirSync(folder).filter((file) => file.endsWith(".golden.txt"));

/** The rows of a golden file. Throws at a line that is not a heading, row, test or comment. */
export function readRows(file: string): Row[] {
  const rows: Row[] = [];
  let table = "";
  for (const line of readFileSync(path.join(folder, file), "utf8").split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const row = rows.at(-1);
    const [, testFile, test] = /^ {4}(\S+\.test\.ts): (.+)$/.exec(line) ?? [];
    if (testFile && test && row) row.tests.push({ file: testFile, test });
    else if (/^ {2}\S/.test(line)) {
      rows.push({ name: `${file}: ${table}: ${line.trim()}`, tests: [] });
    } else if (/^\S/.test(line)) table = line;
    else throw new Error(`${file}: neither heading, row nor test: ${line}`);
  }
  return rows;
}

const sources = new Map<string, string | undefined>();

function sourceOf(file: string): string | undefined {
  if (!sources.has(file)) {
    try {
      sources.set(file, readFileSync(path.join(root, file), "utf8"));
    } catch {
      sources.set(file, undefined);
    }
  }
  return sources.get(file);
}

/** Whether the file has a test of that name. */
export function isThere({ file, test }: Proof): boolean {
  const text = test.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  return new RegExp(`\\(\\s*(["'\`])${text.replaceAll('"', '\\\\?"')}\\1`).test(
    sourceOf(file) ?? "",
  );
}
