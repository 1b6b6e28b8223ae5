import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { declaredStatuses, readGolden } from "./route-coverage.ts";

const systemTests = path.join(import.meta.dirname, "../system");

test("system tests reach exactly the declared statuses of every route", () => {
  const declared = declaredStatuses();
  const promised = [...readGolden().keys()];
  expect(declared.filter((line) => !promised.includes(line))).toEqual([]);
  expect(promised.filter((line) => !declared.includes(line))).toEqual([]);
});

test("every system test that the golden file names exists and proves its statuses", () => {
  // This checks only that the files exist. After a file's tests, proves-routes.ts checks that the file received its
  // statuses.
  for (const file of new Set(readGolden().values())) {
    expect(existsSync(path.join(systemTests, file)), file).toBe(true);
  }
});

test("no route is declared twice", () => {
  const declared = declaredStatuses();
  expect(new Set(declared).size).toBe(declared.length);
});
