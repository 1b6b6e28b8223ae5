import path from "node:path";
import { eventMigrations } from "@statehouse/events";
import { missingIndexes } from "@statehouse/postgres/testing";
import { expect, test } from "vitest";
import { auditMigrations } from "../migrations.ts";

test("the indexes that comments name exist", async () => {
  const migrations = [...eventMigrations, ...auditMigrations];
  const folders = [path.dirname(import.meta.dirname)];
  expect(await missingIndexes({ contextName: "audit", migrations, folders })).toEqual([]);
});
