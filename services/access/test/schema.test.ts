import path from "node:path";
import { migratedSchemaDrift, missingIndexes } from "@statehouse/postgres/testing";
import { expect, test } from "vitest";
import { migrations } from "../store/migrations.ts";
import { entities } from "../store/nouns.ts";

test("the entities agree with the migrated database", async () => {
  expect(await migratedSchemaDrift({ contextName: "access", entities, migrations })).toEqual([]);
});

test("the indexes that the comments of the store name exist", async () => {
  const store = path.join(import.meta.dirname, "../store");
  expect(await missingIndexes({ contextName: "access", migrations, store })).toEqual([]);
});
