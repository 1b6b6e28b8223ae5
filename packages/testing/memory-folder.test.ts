import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { clearMemoryFolder, temporaryPath } from "./memory-folder.ts";

test("only folders of processes that have ended are deleted", () => {
  using folder = mkdtempDisposableSync(temporaryPath(tmpdir()));
  const { pid: ended } = spawnSync(process.execPath, ["--version"]);
  const names = [`statehouse-test-${ended}-a`, `statehouse-test-${process.pid}-b`, "of-others-1-c"];
  for (const name of names) mkdirSync(path.join(folder.path, name));
  clearMemoryFolder(folder.path);
  expect(readdirSync(folder.path)).toEqual(["of-others-1-c", `statehouse-test-${process.pid}-b`]);
});

test("a folder that does not exist needs no deletion", () => {
  expect(() => clearMemoryFolder(path.join(tmpdir(), "statehouse-test-none"))).not.toThrow();
});
