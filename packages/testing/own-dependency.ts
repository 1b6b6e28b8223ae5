import path from "node:path";
import {
  type Minio,
  type MinioOptions,
  type Nats,
  type NatsOptions,
  type Postgres,
  startMinio,
  startNats,
  startPostgres,
} from "@statehouse/local-services";
import { temporaryFolder } from "./temporary-folder.ts";

/**
 * Starts a separate NATS in about 15 ms. Two sets of services cannot share a NATS, because the names of the stream and
 * its subjects are fixed.
 */
export const ownNats = (options: Omit<NatsOptions, "dataDirectory"> = {}): Promise<Nats> =>
  inOwnFolder((folder) => startNats({ ...options, dataDirectory: path.join(folder, "nats") }));

/** Starts a separate MinIO in less than a second, for tests that stop it or need other settings. */
export const ownMinio = (options: Omit<MinioOptions, "dataDirectory"> = {}): Promise<Minio> =>
  inOwnFolder((folder) => startMinio({ ...options, dataDirectory: path.join(folder, "minio") }));

/** Starts a separate PostgreSQL in less than a second, for tests that stop it. */
export const ownPostgres = (): Promise<Postgres> =>
  inOwnFolder((folder) =>
    startPostgres({ dataDirectory: path.join(folder, "postgres"), fast: true }),
  );

async function inOwnFolder<T extends AsyncDisposable>(
  start: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await temporaryFolder();
  try {
    const server = await start(folder.path);
    const stop = server[Symbol.asyncDispose];
    return Object.defineProperty(server, Symbol.asyncDispose, {
      value: async () => {
        await stop.call(server);
        await folder[Symbol.asyncDispose]();
      },
    });
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}
