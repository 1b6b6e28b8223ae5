import type { Stack } from "../../stack/stack.ts";
import type { Cell } from "./call.ts";
import type { Row } from "./row.ts";

const databases = ["access", "workspaces", "state"] as const;

/** GET routes whose responses contain values of a state. */
const stateReads = new Set([
  "GET /api/v2/state-versions/:stateVersionId/outputs",
  "GET /api/v2/state-version-outputs/:stateVersionOutputId",
  "GET /api/v2/workspaces/:workspaceId/current-state-version-outputs",
]);

/**
 * Records the request id of every refused attempt in a separate table, because `audit_attempts` has only one row for
 * all equal attempts of a minute, with the request id of the last one.
 */
export async function watchAttempts(stack: Stack): Promise<void> {
  for (const database of databases) {
    for (const statement of [
      "create table attempt_requests (request_id text)",
      `create function note_attempt() returns trigger language plpgsql as $$
       begin insert into attempt_requests values (new.request_id); return new; end $$`,
      `create trigger note_attempt after insert or update on audit_attempts
       for each row execute function note_attempt()`,
    ]) {
      await stack.rows(database, statement);
    }
  }
}

async function requestIds(stack: Stack, sql: string): Promise<Set<string>> {
  const found = await Promise.all(
    databases.map((database) => stack.rows<{ request_id: string }>(database, sql)),
  );
  return new Set(found.flat().map(({ request_id }) => request_id));
}

export interface AuditedCall {
  row: Row;
  cell: Cell;
  authenticated: boolean;
}

/**
 * Returns whether the row's calls change nothing, because the example body of the route contains no member.
 * test/system/audit-records.test.ts calls these routes with members.
 */
const changesNothing = ({ route }: Row) =>
  /^(POST|DELETE) .*\/teams\/:teamId\/relationships\//.test(route);

/**
 * Returns whether a 404 of the row's route is a refusal. `GET /api/v2/account/details` is the exception: it returns 404
 * to an audit trails token, whatever its rights are, because the token has no account.
 */
const isRefused = ({ route }: Row) => route !== "GET /api/v2/account/details";

const isObject = ({ route }: Row) => route.includes("/v1/object/");
const leavesRecord = (row: Row) =>
  (!changesNothing(row) && !row.route.startsWith("GET ")) || stateReads.has(row.route);

/**
 * Returns the rows whose calls should have left an audit record but left none: `changes` are rows whose calls changed
 * something or read a state, `refusals` are rows whose calls were refused. Transfers of state bytes are tested in
 * services/state/test/object/audit.test.ts.
 */
export async function withoutRecord(
  stack: Stack,
  calls: readonly AuditedCall[],
): Promise<{ changes: string[]; refusals: string[] }> {
  const succeeded = await requestIds(
    stack,
    "select request_id from audit_records where outcome = 'succeeded'",
  );
  const refused = await requestIds(stack, "select request_id from attempt_requests");
  const missing = (
    matches: (call: AuditedCall) => boolean,
    recorded: ReadonlySet<string>,
  ): string[] => {
    const byRow = Map.groupBy(
      calls.filter((call) => !isObject(call.row) && matches(call)),
      ({ row }) => row,
    );
    return [...byRow]
      .filter(([, made]) => !made.some(({ cell }) => recorded.has(cell.requestId)))
      .map(([{ route, note }]) => `${route}${note ? ` (${note})` : ""}`);
  };
  return {
    changes: missing(({ row, cell }) => leavesRecord(row) && cell.status < 300, succeeded),
    refusals: missing(
      ({ row, cell, authenticated }) =>
        authenticated && isRefused(row) && (cell.status === 403 || cell.status === 404),
      refused,
    ),
  };
}
