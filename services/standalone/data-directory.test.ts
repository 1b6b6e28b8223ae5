import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDataDirectory, openSecrets } from "./data-directory.ts";

let folder: string;
beforeEach(async () => {
  folder = path.join(await mkdtemp(path.join(tmpdir(), "statehouse-test-")), "data");
});
afterEach(() => rm(path.dirname(folder), { recursive: true }));

const isRoot = process.getuid?.() === 0;

test("a data folder and secrets of the caller are used again", async () => {
  await openDataDirectory(folder);
  const secrets = await openSecrets(folder);
  await openDataDirectory(folder);
  expect(await openSecrets(folder)).toEqual(secrets);
});

test("a data folder that others can write is refused", async () => {
  await mkdir(folder);
  await chmod(folder, 0o777);
  await expect(openDataDirectory(folder)).rejects.toThrow("can be written by other users");
});

test("secrets that others can write are refused", async () => {
  await openDataDirectory(folder);
  const file = path.join(folder, "secrets.json");
  await writeFile(file, "{}");
  await chmod(file, 0o620);
  await expect(openSecrets(folder)).rejects.toThrow("can be written by other users");
});

test.runIf(isRoot)("a data folder and secrets of another user are refused", async () => {
  await openDataDirectory(folder);
  await openSecrets(folder);
  await chown(path.join(folder, "secrets.json"), 1234, 1234);
  await expect(openSecrets(folder)).rejects.toThrow("belongs to another user (1234)");
  await chown(folder, 1234, 1234);
  await expect(openDataDirectory(folder)).rejects.toThrow("belongs to another user (1234)");
});
