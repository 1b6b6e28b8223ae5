import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { changesInReads } from "./reads.ts";

const root = path.resolve(import.meta.dirname, "../..");

test("functions and classes named reads change no rows", () => {
  const changes = globSync("services/*/{,*/}*store.ts", { cwd: root }).flatMap((file) =>
    changesInReads(file, readFileSync(path.join(root, file), "utf8")).map(
      (change) => `${file}: ${change}`,
    ),
  );
  expect(changes).toEqual([]);
});

test.each([
  ["an insert", "const reads = (database) => ({ add: () => database.query(`insert into a`) });"],
  ["an update", "const userReads = () => query(`update users u set a = 1`);"],
  ["a delete", "class Reads { go() { return query(`delete from a`); } }"],
  ["a row lock", "function teamReads() { return query(`select from a for update`); }"],
  ["a statement of the ORM", "const a = { reads: (em) => em.nativeDelete(A, {}) };"],
])("reports %s in reads", (_, source) => {
  expect(changesInReads("a.ts", source)).toHaveLength(1);
});

test("accepts changes outside reads", () => {
  expect(changesInReads("a.ts", "const rows = () => query(`delete from a`);")).toEqual([]);
});
