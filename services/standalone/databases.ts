import { existsSync } from "node:fs";
import path from "node:path";
import { claimAlone, liveOwner, startPostgres } from "@statehouse/local-services";
import { StartError } from "@statehouse/runtime";
import { databaseOf } from "./running-database.ts";

/** The databases of a data folder that a command has opened. */
export interface Databases extends AsyncDisposable {
  url(service: "access" | "workspaces" | "state"): string;
}

/**
 * Opens the databases of the `npm start` that runs on this data folder. If no `npm start` runs, starts PostgreSQL on
 * the folder until disposal. Throws `StartError`.
 */
export async function openDatabases(folder: string): Promise<Databases> {
  const dataDirectory = path.join(folder, "postgres");
  if (!existsSync(path.join(dataDirectory, "cluster"))) {
    throw new StartError(
      `The folder ${folder} has no databases: set DATA_DIR to the data folder, or set DATABASE_URL.`,
    );
  }
  await using starting = new AsyncDisposableStack();
  if (liveOwner(dataDirectory) !== undefined) {
    return {
      url: (service) => databaseOf(folder, service),
      async [Symbol.asyncDispose]() {},
    };
  }
  starting.use(claimAlone(folder));
  const postgres = starting.use(await startPostgres({ dataDirectory }));
  const started = starting.move();
  return {
    url: (service) => postgres.url(`statehouse_${service}`),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
