import { createHash } from "node:crypto";
import { access, mkdir, open, rm, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { freshDatabase } from "@statehouse/postgres/testing";
import { migrations } from "@statehouse/state/migrations";
import { openDirectoryStore } from "@statehouse/state/object/directory-store";
import { newBlobKey } from "@statehouse/state/object/key-domain";
import { temporaryFolder } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

const run = async (environment: Record<string, string>, ...options: string[]) => {
  const { code, stdout, stderr } = await statehouse(["fsck", ...options], environment);
  return { code, lines: stdout.trimEnd().split("\n"), stderr };
};

test("the command reports damage on disk while a service runs, and changes nothing", async () => {
  proves("Object store/fsck on a live system");
  await using stack = new AsyncDisposableStack();
  const fresh = stack.use(await freshDatabase({ contextName: "state", migrations }));
  const folder = stack.use(await temporaryFolder()).path;
  const store = stack.use(await openDirectoryStore(folder));
  const environment = {
    DATABASE_URL: fresh.url,
    BLOB_STORE: "directory",
    BLOB_DIRECTORY: folder,
    SWEEP_GRACE: "60",
    BLOB_DELETION_DELAY: "0",
  };
  await fresh.query(
    `insert into workspace_states (workspace_id, placement_version, sealed_epoch,
         current_position, resource_count, revision) values ('ws-1', 0, 0, 0, 0, 0)`,
  );
  const bytes = Buffer.from("a state that is somewhat longer");
  const keys: string[] = [];
  for (const [index, name] of ["whole", "missing", "truncated", "flipped"].entries()) {
    const id = `sv-${name}` as const;
    const kind = "raw";
    const key = newBlobKey({ workspaceId: "ws-1", versionId: id, kind, startedAt: new Date() });
    const { size, sha256, md5 } = await store.put(
      key,
      Readable.from([bytes]),
      { size: bytes.length },
      new AbortController().signal,
    );
    await fresh.query("insert into blobs values ($1, 'ws-1', $2, $3, 1, now())", [
      key,
      size,
      sha256,
    ]);
    await fresh.query(
      `insert into state_versions (id, workspace_id, position, lock_epoch, serial, md5, lineage,
           status, intermediate, created_at, created_by_type, created_by_id, expires_at, blob_key,
           size, sha256, outputs_given, resources_processed, resource_count, extraction_attempts)
         values ($1, 'ws-1', $2, 1, $2, $3, '', 'finalized', false, now(), 'user', 'user-1', now(),
           $4, $5, $6, false, true, 0, 0)`,
      [id, index + 1, md5, key, size, sha256],
    );
    keys.push(key);
  }
  await writeFile(path.join(folder, "unfinished", "under-way"), "half a state");

  const whole = await run(environment);
  expect(whole).toMatchObject({ code: 0 });
  expect(whole.lines).toEqual([
    `4 state versions, 4 contents, ${4 * bytes.length} bytes`,
    "no problems found",
  ]);
  expect(whole.stderr).toContain("4 of 4 state versions (100 %");

  const shard = createHash("sha256").update("ws-1").digest("hex").slice(0, 2);
  const fileOf = (key = "") => path.join(folder, "blobs", shard, ...key.split("/"));
  await rm(fileOf(keys[1]));
  await truncate(fileOf(keys[2]), 5);
  {
    await using file = await open(fileOf(keys[3]), "r+");
    await file.write(Buffer.from([bytes.readUInt8(10) ^ 1]), 0, 1, 10);
  }
  const ownerless = newBlobKey({
    workspaceId: "ws-1",
    versionId: "sv-gone",
    kind: "raw",
    startedAt: new Date(Date.now() - 3 * 60_000),
  });
  await mkdir(path.dirname(fileOf(ownerless)), { recursive: true });
  await writeFile(fileOf(ownerless), "x");

  const damaged = await run(environment);
  expect(damaged.code).toBe(1);
  expect(damaged.lines.toSorted()).toEqual(
    [
      `missing ws-1 sv-missing ${keys[1]}: the bytes are missing in the store`,
      `size ws-1 sv-truncated ${keys[2]}: the number of bytes in the store differs from the row (5 bytes instead of ${bytes.length})`,
      `content ws-1 sv-flipped ${keys[3]}: the md5 or sha256 of the bytes in the store differs from the row (sha256)`,
      `ownerless ${ownerless}: the bytes have no row and should have been deleted by the sweeper`,
      `4 state versions, 4 contents, ${4 * bytes.length} bytes`,
      "4 problems",
    ].toSorted(),
  );
  const sizes = await run(environment, "--sizes");
  expect(sizes.lines.at(-1)).toBe("3 problems");
  await expect(access(path.join(folder, "unfinished", "under-way"))).resolves.toBeUndefined();

  const nowhere = await run({ ...environment, DATABASE_URL: "postgresql://x@127.0.0.1:1/x" });
  expect(nowhere).toMatchObject({ code: 1 });
  expect(nowhere.stderr).toMatch(/^The database cannot be used: .*\n$/);
});
