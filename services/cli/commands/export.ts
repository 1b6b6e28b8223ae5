import { isSet, readConfig, settings } from "@statehouse/runtime";
import { standaloneSchema } from "@statehouse/standalone/config";
import { openDatabases } from "@statehouse/standalone/databases";
import { blobsIn } from "@statehouse/standalone/environments";
import { exportCurrentStates } from "@statehouse/state/current-state/export-command";
import { openWorkspaceNames } from "@statehouse/workspaces/workspace/names-command";
import { z } from "zod";

/** The setting that the command needs in addition to those of the state service. */
export const namesSettings = z.object({
  WORKSPACES_DATABASE_URL: settings.DATABASE_URL.describe(
    "Address of the workspaces service's database, for the names of organizations and workspaces.",
  ),
});

/**
 * Exports the current states from the databases and store that the environment configures or, without DATABASE_URL,
 * from the data folder of `npm start`.
 */
export async function runExport(
  args: readonly string[],
  print: (line: string) => void,
): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const { environment, workspacesUrl } = await sources(stack);
  const { namesOf } = stack.use(await openWorkspaceNames(workspacesUrl));
  return await exportCurrentStates({ args, environment, namesOf, print });
}

async function sources(stack: AsyncDisposableStack) {
  if (isSet("DATABASE_URL")) {
    const { WORKSPACES_DATABASE_URL: workspacesUrl } = readConfig(namesSettings);
    return { environment: process.env, workspacesUrl };
  }
  const { DATA_DIR } = readConfig(standaloneSchema.pick({ DATA_DIR: true }));
  const databases = stack.use(await openDatabases(DATA_DIR));
  const { BLOB_DIRECTORY } = blobsIn(DATA_DIR);
  const environment = { BLOB_DIRECTORY, ...process.env, DATABASE_URL: databases.url("state") };
  return { environment, workspacesUrl: databases.url("workspaces") };
}
