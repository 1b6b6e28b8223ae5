import { migratedSchemaDrift } from "@statehouse/postgres/testing";
import { expect, test } from "vitest";
import { entities } from "../store/entities.ts";
import { migrations } from "../store/migrations.ts";

test("the entities agree with the migrated database", async () => {
  expect(await migratedSchemaDrift({ contextName: "state", entities, migrations })).toEqual([]);
});
