import { unavailable } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { removeAddresses } from "./addresses.ts";
import {
  type Attempt,
  type AttemptRow,
  attemptOf,
  failedSignIn,
  writeAttempts,
} from "./attempts.ts";
import { gather } from "./gather.ts";
import { type AuditRecord, circumstance, insertRecords, type Row, rowOf } from "./record.ts";

/** Records reads, refused attempts and operators' commands. Changes are recorded in the transactions that make them. */
export interface Audit {
  /**
   * Records what the current actor does. Resolves when the record is committed. Await the promise before the first byte
   * of the response is sent. Throws `unavailable` if the record cannot be written.
   */
  write(record: AuditRecord): Promise<void>;
  /** Counts a refused attempt of the current actor. Resolves and throws like `write`. */
  refused(attempt: Attempt): Promise<void>;
  /** Counts a request whose credential is not accepted. Resolves and throws like `write`. */
  signInFailed(address: string | undefined): Promise<void>;
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
  const attempts = gather<AttemptRow>((rows) => writeAttempts(database, rows));
  const written = (writing: Promise<void>): Promise<void> =>
    writing.catch((error: unknown) => {
      throw unavailable(
        "audit_trail",
        "The audit trail cannot be written at the moment; try again.",
        error,
      );
    });
  return {
    write: (record) => written(records(rowOf(record, service))),
    refused: (attempt) => written(attempts(attemptOf(attempt, circumstance(service)))),
    removeAddresses: (userId) => removeAddresses(database, userId),
    signInFailed: (address) => written(attempts(failedSignIn(address))),
  };
}
