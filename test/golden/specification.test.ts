import { describe, expect, test } from "vitest";
import { goldenFiles, isThere, readRows } from "./specification.ts";

describe.each(goldenFiles())("%s", (file) => {
  const rows = readRows(file);

  test("each row of the specification is proved by a test", () => {
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ tests }) => tests.length === 0).map(({ name }) => name)).toEqual([]);
  });

  test("each test that it names is there", () => {
    const missing = rows.flatMap(({ name, tests }) =>
      tests
        .filter((proof) => !isThere(proof))
        .map((proof) => `${name}: ${proof.file}: ${proof.test}`),
    );
    expect(missing).toEqual([]);
  });

  test("no row stands twice", () => {
    const names = rows.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
