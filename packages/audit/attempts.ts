import type { Database } from "@statehouse/postgres";
import { traceId } from "@statehouse/runtime";
import { type AuditRecord, actionColumns, type Circumstance } from "./record.ts";

/**
 * A refused attempt. All attempts within one minute that have the same organization, actor, token, client address,
 * action and code are stored as one record with their count and the resource and request of the last attempt.
 */
export interface Attempt extends Pick<AuditRecord, "organization" | "action" | "resource"> {
  /** The code of the error that the caller receives. */
  code: string;
}

/** Returns the row in which an attempt is counted. */
export const attemptOf = (attempt: Attempt, by: Circumstance) => ({
  ...actionColumns(attempt),
  ...by,
  // The token and the address are empty strings instead of null, because both columns are part of the primary key.
  token_id: by.token_id ?? "",
  address: by.address ?? "",
  code: attempt.code,
  attempts: 1,
});

export type AttemptRow = ReturnType<typeof attemptOf>;

/** Returns the row in which a request with an unknown, expired or malformed credential is counted. */
export const failedSignIn = (address: string | undefined): AttemptRow =>
  attemptOf(
    {
      action: "authentication.sign-in",
      resource: { type: "authentication" },
      code: "unauthenticated",
    },
    {
      actor_type: "unknown",
      actor_id: "",
      token_id: null,
      address: address ?? null,
      request_id: traceId() ?? null,
    },
  );

const keyOf = (row: AttemptRow): string =>
  JSON.stringify([
    row.organization,
    row.actor_type,
    row.actor_id,
    row.token_id,
    row.address,
    row.action,
    row.code,
  ]);

/** Combines the rows of equal attempts into one row each, and sorts the rows by their keys. */
export function combined(rows: readonly AttemptRow[]): AttemptRow[] {
  const byKey = new Map<string, AttemptRow>();
  for (const row of rows) {
    const key = keyOf(row);
    byKey.set(key, { ...row, attempts: row.attempts + (byKey.get(key)?.attempts ?? 0) });
  }
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

const insertAttempts = `
  insert into audit_attempts (minute, organization, actor_type, actor_id, token_id, address, action,
    code, attempts, resource_type, resource_id, request_id)
  select date_trunc('minute', now()), r.* from jsonb_to_recordset($1::jsonb) as r (
    organization text, actor_type text, actor_id text, token_id text, address text, action text,
    code text, attempts integer, resource_type text, resource_id text, request_id text)
  on conflict (minute, organization, actor_type, actor_id, token_id, address, action, code)
  do update set attempts = audit_attempts.attempts + excluded.attempts,
    resource_type = excluded.resource_type, resource_id = excluded.resource_id,
    request_id = excluded.request_id`;

/** Counts attempts in the rows of the current minute. */
export async function writeAttempts(
  database: Pick<Database, "query">,
  rows: readonly AttemptRow[],
): Promise<void> {
  // The rows are sorted, because two replicas that lock the same rows in different orders can cause a deadlock.
  await database.query(insertAttempts, [JSON.stringify(combined(rows))]);
}

/**
 * Returns the statement that moves attempts to the audit records, with salted digests of their addresses. If
 * `keepAddresses` is false, the addresses are removed and only the digests are kept.
 */
const move = (condition: string, keepAddresses: boolean): string => `
  with moved as (
    delete from audit_attempts where ${condition}
    returning *, case when address <> '' then uuid_send(gen_random_uuid()) end as salt
  )
  insert into audit_records (id, organization, actor_type, actor_id, token_id, address,
    address_salt, address_digest, action, resource_type, resource_id, changed_attributes, outcome,
    code, attempts, request_id)
  select 'ae-' || replace(gen_random_uuid()::text, '-', ''), organization, actor_type, actor_id,
    nullif(token_id, ''), ${keepAddresses ? "nullif(address, ''), salt" : "null, null"},
    sha256(salt || convert_to(address, 'UTF8')), action, resource_type, resource_id, '{}',
    'refused', code, attempts, request_id
  from moved`;

/** The statement that moves the attempts of past minutes to the audit records. */
export const moveEndedAttempts = move("minute < date_trunc('minute', clock_timestamp())", true);

const moveOfUser = move("actor_type = 'user' and actor_id = $1", false);

/** Moves the attempts of a user to the audit records, without the addresses. */
export async function moveAttemptsOfUser(
  database: Pick<Database, "query">,
  userId: string,
): Promise<void> {
  await database.query(moveOfUser, [userId]);
}
