import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./folder.ts";

describe("creating a folder", () => {
  let base: string;
  beforeEach(async () => {
    base = await mkdtemp(path.join(tmpdir(), "statehouse-test-"));
  });
  afterEach(() => rm(base, { recursive: true }));

  it("creates its parents once, even concurrently", async () => {
    const folder = path.join(base, "a/b/c");
    await Promise.all(Array.from({ length: 5 }, () => makeFolder(folder, 0o700)));
    await makeFolder(folder, 0o700);
    expect((await stat(folder)).isDirectory()).toBe(true);
  });

  it("fails if a file has the name of the folder", async () => {
    const file = path.join(base, "file");
    await writeFile(file, "");
    await expect(makeFolder(file, 0o700)).rejects.toMatchObject({ code: "EEXIST" });
    await expect(makeFolder(path.join(file, "a"), 0o700)).rejects.toMatchObject({
      code: "ENOTDIR",
    });
  });

  it.runIf(process.platform === "linux")("fails instead of hanging in /proc", async () => {
    await expect(makeFolder("/proc/x/y", 0o700)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
