import { StartError } from "@statehouse/runtime";

/** The oldest supported major version of PostgreSQL: the first one that has `transaction_timeout`. */
const OLDEST_VERSION = 17;

/** Throws `StartError` if the server is older than the oldest supported version of PostgreSQL. */
export async function requireSupportedServer(
  query: (sql: string) => Promise<{ version: string }[]>,
): Promise<void> {
  const [{ version } = { version: "" }] = await query(
    "select current_setting('server_version') as version",
  );
  if (Number.parseInt(version, 10) >= OLDEST_VERSION) return;
  throw new StartError(
    `The server is PostgreSQL ${version}; Statehouse needs PostgreSQL ${OLDEST_VERSION} or newer.`,
  );
}
