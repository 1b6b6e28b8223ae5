import { AppError } from "@statehouse/errors";
import type { Database } from "@statehouse/postgres";
import { withServerSpan } from "@statehouse/runtime";
import { createAudit } from "./audit.ts";

interface Command {
  /** The name of the command, for example `export` or `user.suspend`. */
  name: string;
  /** The database of the service whose data the command reads or changes. */
  database: Pick<Database, "query">;
  service: string;
}

/**
 * Runs an operator's command and records it with its outcome. The outcome is `failed` if the command throws or returns
 * false. The changes that the command makes have their own records with the same request id.
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
      // Errors of the audit trail are ignored here, because the caller needs the error of the command. The database may
      // be unavailable.
      await audit.write({ ...record, outcome: "failed", code }).catch(() => {});
      throw error;
    }
    await audit.write({ ...record, outcome: result === false ? "failed" : "succeeded" });
    return result;
  });
