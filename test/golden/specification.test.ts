import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { fileOf, goldenFiles, readRows } from "./specification.ts";

const root = path.join(import.meta.dirname, "../..");

describe.each(goldenFiles())("%s", (golden) => {
  const rows = readRows(golden);

  test("each row of the specification has a test", () => {
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  test("each test file in the golden files exists", () => {
    // This checks only that the files exist. When a file runs, specification-reporter.ts compares the rows that its
    // tests declare with the golden files.
    const files = new Set(rows.flatMap(({ tests }) => tests.map(fileOf)));
    expect([...files].filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  test("no row is listed twice", () => {
    const names = rows.map(({ table, text }) => `${table}/${text}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
