import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { withFileLimit } from "@statehouse/local-services";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeEach, describe, expect, it } from "vitest";
import { conformance } from "../test/blob-store-conformance.ts";
import { type FullDiskReport, ROOM } from "../test/full-disk.ts";
import { openDirectoryStore } from "./directory-store.ts";

describe("a blob store in a folder", () => {
  beforeEach(() => proves("Object store/one suite for folder and MinIO"));
  conformance(async (stack) => {
    const folder = stack.use(await temporaryFolder());
    return { store: await openDirectoryStore(folder.path), onFullDisk };
  });

  it("leaves no file if the disk is full", async () => {
    await using folder = await temporaryFolder();
    await onFullDisk(folder.path);
    expect(await readdir(path.join(folder.path, "unfinished"))).toEqual([]);
  });

  it("deletes incomplete files of a killed process", async () => {
    await using folder = await temporaryFolder();
    await using before = await openDirectoryStore(folder.path);
    const body = new Readable({ read() {} });
    body.push(randomBytes(1000));
    const killed = new AbortController();
    const upload = before.put("ws-1/sv-1/raw-1", body, { size: 2000 }, killed.signal);
    const ended = expect(upload).rejects.toThrow();
    const unfinished = () => readdir(path.join(folder.path, "unfinished"));
    await waitFor(async () => (await unfinished()).length === 1);
    await using _beside = await openDirectoryStore(folder.path, { beside: true });
    expect(await unfinished(), "a store that is opened beside it").toHaveLength(1);
    await using _after = await openDirectoryStore(folder.path);
    expect(await unfinished()).toEqual([]);
    killed.abort();
    await ended;
  });

  it("deletes the other keys if one cannot be deleted", async () => {
    await using folder = await temporaryFolder();
    await using store = await openDirectoryStore(folder.path);
    const keys = ["ws-1/sv-1/raw-1", "ws-1/sv-2/raw-2"];
    const never = new AbortController().signal;
    for (const key of keys)
      await store.put(key, Readable.from([Buffer.from("x")]), { size: 1 }, never);
    const refused = store.delete(["ws-1/sv-1", "ws-1/sv-2/raw-2"]);
    await expect(refused).rejects.toMatchObject({ kind: "unavailable" });
    expect(await store.sizeOf("ws-1/sv-1/raw-1")).toBe(1);
    expect(await store.sizeOf("ws-1/sv-2/raw-2")).toBeUndefined();
  });

  it("syncs a file and the folders that are new on its path, all at once", async () => {
    await using folder = await temporaryFolder();
    await using store = await openDirectoryStore(folder.path);
    using syncs = await watchSyncs(folder.path);
    const root = path.join(folder.path, "blobs");
    const syncsOf = async (key: string) => {
      const never = new AbortController().signal;
      await store.put(key, Readable.from([Buffer.from("x")]), { size: 1 }, never);
      const shard = path.join(root, ...(await readdir(root)));
      const [workspace = "", version = "", name = ""] = key.split("/");
      const folders = { root, shard, workspace: path.join(shard, workspace) };
      const within = path.join(folders.workspace, version);
      return syncs.namesOf({ ...folders, version: within, file: path.join(within, name) });
    };
    const all = ["root", "shard", "workspace", "version", "file"];
    expect(await syncsOf("ws-1/sv-1/raw-1")).toEqual(all);
    expect(await syncsOf("ws-1/sv-1/json-1")).toEqual(["version", "file"]);
    expect(await syncsOf("ws-1/sv-2/raw-1")).toEqual(["workspace", "version", "file"]);
    await store.delete(["ws-1/sv-1/raw-1", "ws-1/sv-1/json-1", "ws-1/sv-2/raw-1"]);
    expect(await syncsOf("ws-1/sv-2/raw-1")).toEqual(all);
  });

  it("reports in one sentence that its folder cannot be used", async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "file");
    await writeFile(file, "");
    await expect(openDirectoryStore(file)).rejects.toThrow(/^Cannot keep state contents in /);
  });
});

async function onFullDisk(folder?: string): Promise<FullDiskReport> {
  await using own = await temporaryFolder();
  const program = path.join(import.meta.dirname, "../test/full-directory.ts");
  const { command, args } = withFileLimit(ROOM, process.execPath, [program, folder ?? own.path]);
  const { stdout } = await promisify(execFile)(command, args);
  return JSON.parse(stdout);
}

/** Records which files and folders this process syncs to the disk, until the returned object is disposed. */
async function watchSyncs(folder: string) {
  await using some = await open(folder, "r");
  const prototype: FileHandle = Object.getPrototypeOf(some);
  const sync = prototype.sync;
  let started: number[] = [];
  let ended = 0;
  prototype.sync = async function (this: FileHandle) {
    expect(ended, "syncs that end before another one starts").toBe(0);
    const { ino } = await this.stat();
    started.push(ino);
    await pause(5);
    await sync.call(this);
    ended++;
  };
  return {
    /** Returns the names of the paths that were synced since the last call, in the order of `paths`. */
    async namesOf(paths: Readonly<Record<string, string>>): Promise<string[]> {
      const inodes = started;
      [started, ended] = [[], 0];
      const names: string[] = [];
      for (const [name, place] of Object.entries(paths)) {
        const { ino } = await stat(place);
        names.push(...inodes.filter((one) => one === ino).map(() => name));
      }
      expect(names).toHaveLength(inodes.length);
      return names;
    },
    [Symbol.dispose]() {
      prototype.sync = sync;
    },
  };
}
