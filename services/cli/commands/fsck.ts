import { isSet, readConfig } from "@statehouse/runtime";
import { standaloneSchema } from "@statehouse/standalone/config";
import { blobsIn } from "@statehouse/standalone/environments";
import { databaseOf } from "@statehouse/standalone/running-database";
import { fsck } from "@statehouse/state/content/fsck-command";

/** Checks the state service that the environment configures or, without DATABASE_URL, the running `npm start`. */
export const runFsck = (args: readonly string[], print: (line: string) => void) =>
  fsck({ args, environment: environment(), print });

function environment(): Readonly<Record<string, string | undefined>> {
  if (isSet("DATABASE_URL")) return process.env;
  const { DATA_DIR } = readConfig(standaloneSchema.pick({ DATA_DIR: true }));
  const DATABASE_URL = databaseOf(DATA_DIR, "state");
  return { BLOB_DIRECTORY: blobsIn(DATA_DIR).BLOB_DIRECTORY, ...process.env, DATABASE_URL };
}
