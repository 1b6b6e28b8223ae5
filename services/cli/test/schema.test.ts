import path from "node:path";
import { missingIndexes } from "@statehouse/postgres/testing";
import { migrations } from "@statehouse/workspaces/migrations";
import { expect, test } from "vitest";

test("the indexes that comments of commands name exist in the workspaces service's database", async () => {
  const folders = [path.join(import.meta.dirname, "../commands")];
  expect(await missingIndexes({ contextName: "workspaces", migrations, folders })).toEqual([]);
});
