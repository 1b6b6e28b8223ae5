import path from "node:path";
import { readConfig, runCommand } from "@statehouse/runtime";
import { standaloneSchema } from "./config.ts";
import { databaseOf } from "./running-database.ts";

// Checks the state of `npm start` beside it, or, where the settings of a service are given, of that one.
await runCommand("The check", async () => {
  if (!process.env.DATABASE_URL) {
    const { DATA_DIR } = readConfig(standaloneSchema.pick({ DATA_DIR: true }));
    process.env.DATABASE_URL = databaseOf(DATA_DIR, "state");
    process.env.BLOB_DIRECTORY ??= path.join(DATA_DIR, "blobs");
  }
});
if (process.exitCode === undefined) await import("../state/fsck.ts");
