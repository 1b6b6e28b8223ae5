import { openSecrets } from "./data-directory.ts";
import {
  blobsIn,
  type Environment,
  type ServiceName,
  serviceEnvironments,
} from "./environments.ts";
import { databaseOf } from "./running-database.ts";

/**
 * Returns the environment variables of each service, for a command that runs beside an `npm start` with this data
 * folder. They give access to the service's database and keys, but not to the bus or to other services. `settings` are
 * the settings that the operator set. Throws `StartError` if no `npm start` uses the folder.
 */
export async function runningEnvironments(
  folder: string,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<Record<ServiceName, Environment>> {
  const databases = {
    access: databaseOf(folder, "access"),
    workspaces: databaseOf(folder, "workspaces"),
    state: databaseOf(folder, "state"),
  };
  const nowhere = "127.0.0.1:1";
  return serviceEnvironments({
    // The running `npm start` has already created the file of the secrets.
    secrets: await openSecrets(folder),
    databaseUrl: (service) => databases[service],
    natsUrl: `nats://${nowhere}`,
    publicUrl: `http://${nowhere}`,
    objectUrl: `http://${nowhere}`,
    addresses: { access: nowhere, workspaces: nowhere, state: nowhere },
    settings: { ...blobsIn(folder), ...settings },
  });
}
