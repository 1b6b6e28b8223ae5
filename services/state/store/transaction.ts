import { afterCommit, type Database, type Sealer } from "@statehouse/postgres";
import type { StateEvent } from "../domain/events.ts";
import { createRows, type Rows } from "./nouns.ts";
import { record } from "./outbox.ts";

/**
 * The rows of one transaction, and the events and hooks that take effect with its commit. Rows loaded for update stay
 * locked until its end; their changes are written before it. To avoid deadlocks, every use case locks in the order
 * workspace state, state version, blob, and several of a kind by id.
 */
export interface Tx extends Rows {
  record(event: StateEvent): Promise<void>;
  /** Runs `hook` once the transaction is committed. */
  afterCommit(hook: () => void): void;
}

/** Runs use cases in transactions of the database; see `Database.transaction`. */
export type Transactions = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

export const transactions =
  (database: Database, sealer: Sealer): Transactions =>
  (work) =>
    database.transaction((em) =>
      work({
        ...createRows(em, sealer),
        record: (event) => record(em, event),
        afterCommit: (hook) => afterCommit(em, hook),
      }),
    );
