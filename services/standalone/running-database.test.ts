import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { databaseOf } from "./running-database.ts";

test("the database of a running data folder is found with its port and password", async () => {
  await using folder = await temporaryFolder();
  expect(() => databaseOf(folder.path, "state")).toThrow("No npm start runs on the data folder");
  await mkdir(path.join(folder.path, "postgres", "cluster"), { recursive: true });
  await writeFile(path.join(folder.path, "postgres", "password"), "secret\n");
  const pid = ["123", "/data", "1700000000", "54321", "/tmp", "localhost", ""].join("\n");
  await writeFile(path.join(folder.path, "postgres", "cluster", "postmaster.pid"), pid);
  expect(databaseOf(folder.path, "state")).toBe(
    "postgresql://statehouse:secret@127.0.0.1:54321/statehouse_state",
  );
});
