import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { runStatehouse } from "../stack/deployed-keys.ts";

const keys = (...args: string[]) => runStatehouse(["keys", ...args], {});
const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

test("keys are not written into a file that another user prepared", async () => {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "keys.json");
  const foreign = path.join(folder.path, "foreign");
  await writeFile(foreign, "");
  // A name that a program could choose for the draft of the file.
  await symlink(foreign, `${file}.draft`);
  await keys("new", file);
  expect(await readFile(foreign, "utf8")).toBe("");
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ version: 1 });
  expect(await modeOf(file)).toBe(0o600);
});

test("printed keys that were readable for all become private", async () => {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "keys.json");
  const printed = path.join(folder.path, "printed");
  await mkdir(printed);
  await keys("new", file);
  const print = () => keys("print", file, "--format", "files", "--to", printed);
  await print();
  const seed = path.join(printed, "state", "NATS_NKEY_SEED");
  await chmod(seed, 0o644);
  await print();
  expect(await modeOf(seed)).toBe(0o600);
});
