import { INSTALLATION } from "@statehouse/events";
import { type Database, openDatabase } from "@statehouse/postgres";
import { createLogger, readConfig, StartError } from "@statehouse/runtime";
import { standaloneSchema } from "@statehouse/standalone/config";
import { openDatabases } from "@statehouse/standalone/databases";
import { z } from "zod";

/** The services that have a database. */
export const storing = ["access", "workspaces", "state"] as const;
export type Storing = (typeof storing)[number];

const url = (service: Storing) =>
  z.url().optional().describe(`Address of the database of the ${service} service.`);

/** The settings of commands that read the databases of several services. */
export const databasesSettings = z.object({
  ACCESS_DATABASE_URL: url("access"),
  WORKSPACES_DATABASE_URL: url("workspaces"),
  STATE_DATABASE_URL: url("state"),
  ...standaloneSchema.pick({ DATA_DIR: true }).shape,
});

export interface ServiceDatabases {
  /** The databases by their service. */
  databases: ReadonlyMap<Storing, Database>;
  /** The data folder of `npm start`, if the databases are in it. */
  folder: string | undefined;
}

/**
 * Opens the databases that the environment configures. If it configures none, opens those in the data folder (DATA_DIR)
 * of `npm start`. `stack` closes them. Throws `StartError`.
 */
export async function openServiceDatabases(stack: AsyncDisposableStack): Promise<ServiceDatabases> {
  const config = readConfig(databasesSettings);
  const configured = new Map<Storing, string>();
  for (const service of storing) {
    const address = config[`${service.toUpperCase() as Uppercase<Storing>}_DATABASE_URL`];
    if (address !== undefined) configured.set(service, address);
  }
  const folder = configured.size === 0 ? config.DATA_DIR : undefined;
  if (folder !== undefined) {
    const local = stack.use(await openDatabases(folder));
    for (const service of storing) configured.set(service, local.url(service));
  }
  const databases = new Map<Storing, Database>();
  for (const [service, address] of configured) {
    const database = stack.use(
      await openDatabase({
        contextName: service,
        url: address,
        pooling: "transaction",
        entities: [],
        migrations: [],
        logger: createLogger({ service, level: "silent" }),
      }),
    );
    await database.query("select").catch((error: Error) => {
      throw new StartError(`The database of ${service} cannot be used: ${error.message}`);
    });
    databases.set(service, database);
  }
  return { databases, folder };
}

/**
 * Returns the id of the organization with this id or, if there is none, with this name. Throws `StartError` if the name
 * is unknown.
 */
export async function organizationIdOf(
  databases: ServiceDatabases["databases"],
  organization: string,
): Promise<string> {
  const found = await databases.get("workspaces")?.query<{ id: string }>(
    // index: organizations_lower_name_key, organizations_pkey
    `select id from organizations where lower(name) = lower($1) or id = $1
     order by id = $1 desc limit 1`,
    [organization],
  );
  const [row] = found ?? [];
  if (row) return row.id;
  // The audit trail also contains records of deleted organizations. Such an organization can only be named by its id.
  if (organization === INSTALLATION || organization.startsWith("org-")) return organization;
  throw new StartError(
    found
      ? `There is no organization ${organization}.`
      : "An organization's name requires WORKSPACES_DATABASE_URL; its id does not.",
  );
}
