import { readConfig, runCommand } from "@statehouse/runtime";
import { standaloneSchema } from "./config.ts";
import { blobsIn } from "./environments.ts";
import { databaseOf } from "./running-database.ts";

// Checks the state of `npm start` beside it, or, where the settings of a service are given, of that one.
await runCommand("The check", async () => {
  if (!process.env.DATABASE_URL) {
    const { DATA_DIR } = readConfig(standaloneSchema.pick({ DATA_DIR: true }));
    process.env.DATABASE_URL = databaseOf(DATA_DIR, "state");
    process.env.BLOB_DIRECTORY ??= blobsIn(DATA_DIR).BLOB_DIRECTORY;
  }
});
if (process.exitCode === undefined) await import("@statehouse/state/fsck");
