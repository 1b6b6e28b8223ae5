import { AppError } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { withServerSpan } from "@statehouse/runtime";
import { createAudit } from "./audit.ts";

interface Command {
  /** For example `export`, or `user.suspend`. */
  name: string;
  /** The database of the service whose data the command reads or changes. */
  database: Pick<Database, "query">;
  service: string;
}

/**
 * Runs an operator's command and records it with its outcome. The command has failed if it throws or returns false.
 * What it changes is also recorded, with the same request id.
 */
export const recordCommand = <T>(
  { name, database, service }: Command,
  work: () => Promise<T>,
): Promise<T> =>
  withServerSpan(`command ${name}`, undefined, {}, async () => {
    const audit = createAudit(database, service);
    const record = { action: `command.${name}`, resource: { type: service } };
    let result: T;
    try {
      result = await work();
    } catch (error) {
      const code = error instanceof AppError ? error.reason : undefined;
      // The command reports its own error, which can be that the database is unavailable.
      await audit.write({ ...record, outcome: "failed", code }).catch(() => {});
      throw error;
    }
    await audit.write({ ...record, outcome: result === false ? "failed" : "succeeded" });
    return result;
  });
