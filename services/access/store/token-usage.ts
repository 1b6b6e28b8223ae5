import type { Database } from "@statehouse/postgres";
import type { Logger } from "@statehouse/runtime";
import type { TokenId } from "../domain/ids.ts";

/** Remembers which tokens are used, and writes it down now and then. */
export interface TokenUsage extends AsyncDisposable {
  /** Costs no I/O: it is called on every request's path. */
  note(id: TokenId, at: Date): void;
}

export interface TokenUsageOptions {
  database: Database;
  logger: Logger;
  /** How late `last-used-at` may be, in ms. */
  intervalMs?: number | undefined;
}

const INTERVAL_MS = 5000;

// Rows are locked in one order, so that two replicas never wait for each other.
const write = `
  -- index: tokens_pkey
  with used as (
    select u.id, u.at from unnest($1::text[], $2::timestamptz[]) as u (id, at)
    join tokens t on t.id = u.id
    order by t.id for no key update of t
  )
  update tokens t set last_used_at = greatest(t.last_used_at, used.at)
  from used where t.id = used.id`;

/** Writes the uses of tokens in batches, and the last one when it is disposed. */
export function startTokenUsage({
  database,
  logger,
  intervalMs = INTERVAL_MS,
}: TokenUsageOptions): TokenUsage {
  let used = new Map<TokenId, Date>();
  let writing: Promise<void> | undefined;
  let failing = false;

  const note = (id: TokenId, at: Date): void => {
    const known = used.get(id);
    if (!known || known < at) used.set(id, at);
  };

  const flush = async (): Promise<void> => {
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    try {
      await database.query(write, [[...batch.keys()], [...batch.values()]]);
      failing = false;
    } catch (error) {
      // Kept for the next time; what was noted meanwhile is newer.
      for (const [id, at] of batch) note(id, at);
      if (!failing) logger.warn({ err: error }, "uses of tokens could not be written");
      failing = true;
    }
  };

  const timer = setInterval(() => {
    writing ??= flush().finally(() => {
      writing = undefined;
    });
  }, intervalMs).unref();

  return {
    note,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await writing;
      await flush();
    },
  };
}
