import path from "node:path";
import { missingIndexes } from "@statehouse/postgres/testing";
import { expect, test } from "vitest";
import { eventMigrations } from "../migrations.ts";

test("the indexes that comments name exist", async () => {
  const folders = [path.dirname(import.meta.dirname)];
  const schema = { contextName: "events", migrations: eventMigrations };
  expect(await missingIndexes({ ...schema, folders })).toEqual([]);
});
