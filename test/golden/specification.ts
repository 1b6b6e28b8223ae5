import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/*
 * test/golden/specification/<area>.golden.txt lists the rows of the specification's tables with the tests of each:
 *
 *   # a comment
 *   Workspace
 *     name: unique within the organization
 *       test/system/workspace.test.ts > a name is free again after a rename
 *
 * Tables and rows are written by hand. The test lines are generated (`npm test -- --update=true <files>`) from the rows
 * that tests declare while they run:
 *
 *   test("a name is free again after a rename", async () => {
 *     proves("Workspace/name: unique");
 *
 * A declaration is the table, a slash, and the start of the row up to the end of a word. It must identify one row:
 * the row whose text before the colon is equal, or else the only row with that start. `Table/*` is the whole table.
 */
const folder = path.join(import.meta.dirname, "specification");

/** A row of the specification with its tests, each as `<file> > <suite> > <test>`. */
export interface Row {
  table: string;
  text: string;
  tests: string[];
}

/** A test and the rows that it declares with `proves`. */
export interface Declaration {
  /** Path of the test file from the root of the repository. */
  file: string;
  /** Names of the suites and of the test, joined with ` > `. */
  name: string;
  spec: readonly string[];
}

/** Returns the names of the golden files. */
export const goldenFiles = (): string[] =>
  readdirSync(folder).filter((file) => file.endsWith(".golden.txt"));

/** Returns the rows of a golden file. Throws for a line that is not a table, a row, a test or a comment. */
export function readRows(golden: string): Row[] {
  const rows: Row[] = [];
  let table = "";
  for (const line of linesOf(golden)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const row = rows.at(-1);
    if (/^ {4}\S/.test(line) && row) row.tests.push(line.trim());
    else if (/^ {2}\S/.test(line)) rows.push({ table, text: line.trim(), tests: [] });
    else if (/^\S/.test(line)) table = line;
    else throw new Error(`${golden}: neither table, row nor test: ${line}`);
  }
  return rows;
}

/** Replaces the test lines of a golden file and writes the file. */
export function writeTests(golden: string, testsOf: (table: string, text: string) => string[]) {
  let table = "";
  const lines = linesOf(golden).flatMap((line) => {
    if (/^ {4}\S/.test(line)) return [];
    if (/^ {2}\S/.test(line)) {
      return [line, ...testsOf(table, line.trim()).map((test) => `    ${test}`)];
    }
    if (/^[^\s#]/.test(line)) table = line;
    return [line];
  });
  writeFileSync(path.join(folder, golden), lines.join("\n"));
}

const linesOf = (golden: string): string[] =>
  readFileSync(path.join(folder, golden), "utf8").split("\n");

/**
 * Returns the rows that a declaration identifies: one row, or all rows of a table for `Table/*`. Throws if the
 * declaration identifies no row, or several rows without `*`.
 */
export function rowsOf(declared: string, rows: readonly Row[]): Row[] {
  const [table = "", ...rest] = declared.split("/");
  const start = rest.join("/");
  const ofTable = rows.filter((row) => row.table === table);
  if (ofTable.length === 0) throw new Error(`no table of the specification is named '${table}'`);
  if (start === "*") return ofTable;
  const named = ofTable.filter(({ text }) => text.split(": ", 1)[0] === start);
  const found = named.length === 1 ? named : ofTable.filter(({ text }) => startsWith(text, start));
  if (found.length !== 1) {
    throw new Error(`'${declared}' identifies ${found.length} rows of the specification`);
  }
  return found;
}

/** Returns whether the text starts with these complete words. */
const startsWith = (text: string, start: string): boolean =>
  text.startsWith(start) && !/^[\w-]/.test(text.slice(start.length));

/** Returns the file of a test line. */
export const fileOf = (test: string): string => test.split(" > ", 1)[0] ?? "";
