import path from "node:path";
import { migratedSchemaDrift, missingIndexes } from "@statehouse/postgres/testing";
import { expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { entities } from "../nouns.ts";

test("the entities agree with the migrated database", async () => {
  expect(await migratedSchemaDrift({ contextName: "access", entities, migrations })).toEqual([]);
});

test("the indexes that the comments of stores and commands name exist", async () => {
  const folders = [path.dirname(import.meta.dirname)];
  const files = "{,*/}*{store,command}.ts";
  expect(await missingIndexes({ contextName: "access", migrations, folders, files })).toEqual([]);
});
