import { writeFile } from "node:fs/promises";
import path from "node:path";
import { freshDatabase } from "@statehouse/postgres/testing";
import { migrations } from "@statehouse/state/migrations";
import { openDirectoryStore } from "@statehouse/state/object/directory-store";
import { newKeyRing, newServiceKeys, temporaryFolder } from "@statehouse/testing";
import { migrations as workspacesMigrations } from "@statehouse/workspaces/migrations";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

const nowhere = "postgresql://x@127.0.0.1:1/x";

test("commands read the database's address and the keys from files", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  const state = stack.use(await freshDatabase({ contextName: "state", migrations }));
  const workspaces = stack.use(
    await freshDatabase({ contextName: "workspaces", migrations: workspacesMigrations }),
  );
  /** Writes the values to files; returns the settings that name the files. */
  const fromFiles = async (values: Record<string, string>) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(values).map(async ([name, value]) => {
          const file = path.join(folder, name);
          await writeFile(file, `${value}\n`);
          return [`${name}_FILE`, file];
        }),
      ),
    );
  const files = await fromFiles({
    DATABASE_URL: state.url,
    WORKSPACES_DATABASE_URL: workspaces.url,
    SEALING_KEYS: newKeyRing(),
  });
  await (await openDirectoryStore(path.join(folder, "blobs")))[Symbol.asyncDispose]();
  const environment = {
    ...files,
    BLOB_STORE: "directory",
    BLOB_DIRECTORY: path.join(folder, "blobs"),
  };
  // If the command ignored the file that contains the database's address, it would use the data folder that DATA_DIR
  // names.
  const elsewhere = { ...environment, DATA_DIR: path.join(folder, "none") };
  const out = path.join(folder, "out");
  for (const [args, printed] of [
    [["fsck"], "no problems found"],
    [["export", out], "0 states, 0 bytes"],
    [["migrate", "state"], "nothing to apply"],
    [["rotate-keys", "state"], "re-encrypted 0 values"],
  ] as const) {
    const { code, stdout, stderr } = await statehouse(args, elsewhere);
    expect({ code, stderr: code === 0 ? "" : stderr }, args[0]).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(printed);
  }

  const { settingsOf } = await newServiceKeys("state");
  const collecting = await fromFiles({
    DATABASE_URL: nowhere,
    UPLOAD_TOKEN_KEYS: newKeyRing(),
    ...settingsOf("state"),
  });
  for (const [command, more] of [
    ["collect", { PUBLIC_URL: "https://state.example" }],
    ["move-blobs", { BLOB_MOVING_FROM: folder }],
  ] as const) {
    const { code, stderr } = await statehouse([command], { ...elsewhere, ...collecting, ...more });
    expect(code, command).toBe(1);
    expect(stderr).toMatch(/does not respond/);
  }
});
