import type { Database } from "@statehouse/postgres";
import { type Logger, startLoop, traceId } from "@statehouse/runtime";
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

/** The maximum number of rows in memory. */
const MAX_ROWS = 10_000;

/** Returns the row in which all attempts are counted that have no row of their own in memory. */
const furtherAttempt = ({ request_id }: AttemptRow): AttemptRow =>
  attemptOf(
    {
      action: "audit-trail.count-further",
      resource: { type: "audit-trail" },
      code: "too_many_attempts",
    },
    { actor_type: "unknown", actor_id: "", token_id: null, address: null, request_id },
  );

/** Rows of attempts in memory, equal ones combined. */
export interface AttemptCounts {
  /** Counts an attempt. If memory has the maximum number of rows, it is counted without its circumstances. */
  add(row: AttemptRow): void;
  /** Writes all rows in memory. If this fails, the rows remain in memory for the next call. */
  write(): Promise<void>;
}

/** Creates counts of attempts, so that the response to a refused request does not wait for a statement. */
export function createAttemptCounts(database: Pick<Database, "query">): AttemptCounts {
  let rows = new Map<string, AttemptRow>();
  const count = (row: AttemptRow, limit: number): void => {
    const key = keyOf(row);
    const counted = rows.get(key);
    if (counted || rows.size < limit) {
      rows.set(key, { ...row, attempts: row.attempts + (counted?.attempts ?? 0) });
    } else count({ ...furtherAttempt(row), attempts: row.attempts }, Number.POSITIVE_INFINITY);
  };
  const add = (row: AttemptRow): void => count(row, MAX_ROWS);
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    const written = rows;
    if (written.size === 0) return;
    rows = new Map();
    try {
      await writeAttempts(database, [...written]);
    } catch (error) {
      const later = rows;
      rows = written;
      for (const row of later.values()) add(row);
      throw error;
    }
  };
  return {
    add,
    write() {
      const next = writing.then(write);
      writing = next.catch(() => {});
      return next;
    },
  };
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

/** Adds attempts to the rows of the current minute. */
async function writeAttempts(
  database: Pick<Database, "query">,
  rows: readonly (readonly [string, AttemptRow])[],
): Promise<void> {
  // The rows are sorted by their keys, because two replicas that lock the same rows in different orders can cause a
  // deadlock.
  const sorted = rows.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  await database.query(insertAttempts, [JSON.stringify(sorted)]);
}

/** The interval at which attempts are written, in ms. */
const INTERVAL_MS = 1000;

/** Writes counted attempts once a second, and when it is disposed. */
export function startAttempts({
  audit,
  logger,
}: {
  audit: { writeAttempts(): Promise<void> };
  logger: Logger;
}): AsyncDisposable {
  const loop = startLoop({
    name: "write refused attempts",
    intervalMs: INTERVAL_MS,
    async work() {
      await audit.writeAttempts();
      return false;
    },
    logger,
  });
  return {
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]();
      await audit.writeAttempts().catch((error: unknown) => {
        logger.error({ err: error }, "refused attempts could not be written");
      });
    },
  };
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
