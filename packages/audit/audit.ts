import { unavailable } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { removeAddresses } from "./addresses.ts";
import { type Attempt, attemptOf, createAttemptCounts, failedSignIn } from "./attempts.ts";
import { gather } from "./gather.ts";
import { type AuditRecord, circumstance, insertRecords, type Row, rowOf } from "./record.ts";

/** Records reads, refused attempts and operators' commands. Changes are recorded in the transactions that make them. */
export interface Audit {
  /**
   * Records what the current actor does. Resolves when the record is committed. Await the promise before the first byte
   * of the response is sent. Throws `unavailable` if the record cannot be written.
   */
  write(record: AuditRecord): Promise<void>;
  /**
   * Counts a refused attempt of the current actor in memory; `writeAttempts` writes it. The response does not wait for
   * the record, because its time would show that a hidden object exists.
   */
  refused(attempt: Attempt): void;
  /** Counts a request whose credential is not accepted, like `refused`. */
  signInFailed(address: string | undefined): void;
  /** Writes the attempts that were counted since the last call. If this fails, they remain counted. */
  writeAttempts(): Promise<void>;
  /**
   * Removes the client addresses of a user's requests from all records. The salted digests of the addresses remain, so
   * that the chain can still be verified.
   */
  removeAddresses(userId: string): Promise<void>;
}

/** Creates the writer of a service's audit records. Records that arrive together are written with one statement. */
export function createAudit(database: Pick<Database, "query">, service: string): Audit {
  const records = gather<Row>(async (rows) => {
    await database.query(insertRecords("$1"), [JSON.stringify(rows)]);
  });
  const attempts = createAttemptCounts(database);
  return {
    write: (record) =>
      records(rowOf(record, service)).catch((error: unknown) => {
        throw unavailable(
          "audit_trail",
          "The audit trail cannot be written at the moment; try again.",
          error,
        );
      }),
    refused: (attempt) => attempts.add(attemptOf(attempt, circumstance(service))),
    signInFailed: (address) => attempts.add(failedSignIn(address)),
    writeAttempts: () => attempts.write(),
    async removeAddresses(userId) {
      // Attempts that are only counted in memory have the addresses too.
      await attempts.write();
      await removeAddresses(database, userId);
    },
  };
}
