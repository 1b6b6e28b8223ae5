import { openSecrets } from "./data-directory.ts";
import {
  blobsIn,
  type Environment,
  type ServiceName,
  serviceEnvironments,
} from "./environments.ts";
import { databaseOf } from "./running-database.ts";

/**
 * Returns the environments of the `npm start` that runs on this data folder, for a command that runs beside it. They
 * contain its databases and keys; the bus and the other services cannot be reached. `settings` are the operator's.
 * Throws `StartError` if nothing runs.
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
    // The running process has already created the file.
    secrets: await openSecrets(folder, []),
    databaseUrl: (service) => databases[service],
    natsUrl: `nats://${nowhere}`,
    publicUrl: `http://${nowhere}`,
    objectUrl: `http://${nowhere}`,
    addresses: { access: nowhere, workspaces: nowhere, state: nowhere },
    settings: { ...blobsIn(folder), ...settings },
  });
}
