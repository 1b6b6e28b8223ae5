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

async function requestIds(stack: Stack, sql: string): Promise<Set<string>> {
  const found = await Promise.all(
    databases.map((database) => stack.rows<{ request_id: string }>(database, sql)),
  );
  return new Set(found.flat().map(({ request_id }) => request_id));
}

/** Returns the client addresses of all refused attempts. They are written within a second after the last call. */
async function addressesOfAttempts(stack: Stack): Promise<Set<string>> {
  const found = await Promise.all(
    databases.map((database) =>
      stack.rows<{ address: string }>(
        database,
        `select address from audit_attempts
         union all select address from audit_records where outcome = 'refused'`,
      ),
    ),
  );
  return new Set(found.flat().map(({ address }) => address));
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
  const refused = await addressesOfAttempts(stack);
  const missing = (
    matches: (call: AuditedCall) => boolean,
    isRecorded: (cell: Cell) => boolean,
  ): string[] => {
    const byRow = Map.groupBy(
      calls.filter((call) => !isObject(call.row) && matches(call)),
      ({ row }) => row,
    );
    return [...byRow]
      .filter(([, made]) => !made.some(({ cell }) => isRecorded(cell)))
      .map(([{ route, note }]) => `${route}${note ? ` (${note})` : ""}`);
  };
  return {
    changes: missing(
      ({ row, cell }) => leavesRecord(row) && cell.status < 300,
      ({ requestId }) => succeeded.has(requestId),
    ),
    refusals: missing(
      ({ row, cell, authenticated }) =>
        authenticated && isRefused(row) && (cell.status === 403 || cell.status === 404),
      ({ address }) => refused.has(address),
    ),
  };
}
