import { closeSync, openSync, writeSync } from "node:fs";
import { Client, type Connection, type Submittable } from "pg";

/**
 * Writes a base backup of a running cluster as one tar file, without the write-ahead log. Uses the replication
 * protocol, as `pg_basebackup` does, because the packages of embedded PostgreSQL do not contain that program.
 */
export async function takeBaseBackup(url: string, file: string): Promise<void> {
  const client = new Client({ connectionString: `${url}?replication=true` });
  await client.connect();
  const output = openSync(file, "w", 0o600);
  try {
    const backup = new BaseBackup((bytes) => void writeSync(output, bytes));
    client.query(backup);
    await backup.done;
  } finally {
    closeSync(output);
    await client.end();
  }
}

const kinds = { data: "d".charCodeAt(0) };

/** Sends `BASE_BACKUP` and writes the data of the response. Ignores other results, such as the position in the log. */
class BaseBackup implements Submittable {
  readonly #write: (bytes: Buffer) => void;
  readonly #done = Promise.withResolvers<void>();

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write;
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  submit(connection: Connection): void {
    connection.query(
      "BASE_BACKUP (LABEL 'statehouse', CHECKPOINT 'fast', WAL false, MANIFEST 'no')",
    );
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (chunk[0] === kinds.data) this.#write(chunk.subarray(1));
  }

  handleError(error: Error): void {
    this.#done.reject(error);
  }

  handleReadyForQuery(): void {
    this.#done.resolve();
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
}
