import { AppError, badRequest, deadlineExceeded } from "@statehouse/errors";
import { remainingMs } from "@statehouse/runtime";

const TRANSACTION_TIMEOUT = "25P04";

/**
 * Error codes of PostgreSQL and its driver that mean that the database is unavailable and that the caller can retry
 * later.
 */
const UNAVAILABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "25P03", // idle_in_transaction_session_timeout
  TRANSACTION_TIMEOUT,
  "53300", // too_many_connections
  "55P03", // lock_not_available
  "57014", // query_canceled, which is also statement_timeout
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "57P05", // idle_session_timeout
]);

/**
 * Error codes with which a server that responds refuses its work until an operator has changed it: its disk or memory is
 * full, it rejects the login, or it is a standby. The caller can retry later, but not at once.
 */
const REFUSING = new Set([
  "25006", // read_only_sql_transaction: the server was a primary, or is not one yet
  "28000", // invalid_authorization_specification: pg_hba.conf, or a role without login
  "28P01", // invalid_password
  "3D000", // invalid_catalog_name: the database is not restored yet
  "53100", // disk_full
  "53200", // out_of_memory
  "58030", // io_error
]);

/** The beginning of the driver's messages for a password that the server or the driver does not accept. */
const REJECTED_LOGIN = /^SASL: /;

/** Node's error codes for a server certificate that is not trusted, has expired or was issued for another name. */
const TLS = /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED_CERT)/;

/** Messages of driver errors that have no code. */
const LOST =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|The server does not support SSL connections|Cannot use a pool after)/;

/**
 * Returns whether the error means that the pool is closed, that the server does not respond, or that the server has
 * refused or canceled the statement. The statement may nevertheless have been executed.
 */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code !== undefined) return UNAVAILABLE.has(code) || code.startsWith("08") || TLS.test(code);
  return LOST.test(error.message) || (error instanceof AggregateError && error.errors.some(isLost));
}

/**
 * Returns whether the server responds but refuses its work. The connection is not used again: another one can lead to
 * the new primary.
 */
export function isRefused(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return REFUSING.has(code);
  return error instanceof Error && REJECTED_LOGIN.test(error.message);
}

/** Returns whether the server or the driver does not accept the user or the password. */
export function isRejectedLogin(error: unknown): error is Error {
  return (
    error instanceof Error &&
    (codeOf(error)?.startsWith("28") ?? REJECTED_LOGIN.test(error.message))
  );
}

/** Returns whether the server rolled back the transaction and the same transaction can succeed now. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code === "40001" || code === "40P01" || isStalePlan(error);
}

/**
 * Returns whether the error means that a migration has changed the result columns of a prepared statement. Only a new
 * connection or another statement name resolves this.
 */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === "0A000" && property(error, "routine") === "RevalidateCachedQuery";
}

/**
 * The error codes for text that PostgreSQL cannot store because it contains NUL, which UTF-8 allows but `text` and
 * `jsonb` do not.
 */
const UNSTORABLE_TEXT = new Set([
  "22021", // character_not_in_repertoire
  "22P05", // untranslatable_character
]);

/** Returns whether `error` is a violation of this unique constraint or index. */
export function uniqueViolation(error: unknown, constraintName: string): boolean {
  return codeOf(error) === "23505" && property(error, "constraint") === constraintName;
}

/** Maps unique constraints and indexes to the error that is thrown if a row violates them. */
export type UniqueErrors = Readonly<Record<string, () => Error>>;

/** Returns the error of `uniqueErrors` for a violation of a unique constraint; any other error unchanged. */
export function mapUniqueViolation(error: unknown, uniqueErrors: UniqueErrors): unknown {
  const violated = Object.keys(uniqueErrors).find((name) => uniqueViolation(error, name));
  return (violated && uniqueErrors[violated]?.()) ?? error;
}

/**
 * Converts failures that the request did not cause into `unavailable` or `deadlineExceeded`, and text that cannot be
 * stored into `badRequest`. Other errors are returned unchanged.
 */
export function asAppError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (UNSTORABLE_TEXT.has(codeOf(error) ?? "")) {
    return badRequest("unstorable_text", "The request contains a NUL character.");
  }
  if (isLost(error)) {
    // Both the server and the driver end statements that exceed their limit; either can be first.
    const late = codeOf(error) === TRANSACTION_TIMEOUT || remainingMs() === 0;
    return late ? deadlineExceeded("The database", error) : databaseUnavailable(error);
  }
  if (isRefused(error)) return databaseUnavailable(error);
  if (isRetryable(error)) {
    return new AppError("unavailable", "database_busy", "Too many changes at once; try again.", {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  return error;
}

const databaseUnavailable = (cause: unknown): AppError =>
  new AppError("unavailable", "database", "The database does not respond; try again.", { cause });

function codeOf(error: unknown): string | undefined {
  const code = property(error, "code");
  return typeof code === "string" ? code : undefined;
}

function property(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined;
}
