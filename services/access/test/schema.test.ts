import { migratedSchemaDrift } from "@statehouse/postgres/testing";
import { expect, test } from "vitest";
import { migrations } from "../store/migrations.ts";
import { entities } from "../store/nouns.ts";

test("the entities agree with the migrated database", async () => {
  expect(await migratedSchemaDrift({ contextName: "access", entities, migrations })).toEqual([]);
});
