import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { missingIndexes } from "../testing/index.ts";

const migrations = [
  {
    name: "0001_cups",
    up: `create table cups (id text primary key, sha256 text);
      create index cups_sha256 on cups (sha256)`,
  },
];

test("missing indexes are those that comments of any of the folders name", async () => {
  await using folder = await temporaryFolder();
  const comments = {
    store: "-- index: cups_pkey, cups_sha256,\n-- cups_by_colour",
    commands: "// index: cups_md5, cups_pkey",
  };
  const folders: string[] = [];
  for (const [name, comment] of Object.entries(comments)) {
    const one = path.join(folder.path, name);
    folders.push(one);
    await mkdir(one);
    await writeFile(path.join(one, "cups.ts"), `${comment}\nconst other_name = 1;\n`);
  }
  const missing = await missingIndexes({ contextName: "cups", migrations, folders });
  expect(missing).toEqual(["cups_by_colour", "cups_md5"]);
});
