import { afterCommit, type Database, type Sealer } from "@statehouse/postgres";
import type { StateEvent } from "../domain/events.ts";
import { recordStateEvent } from "./events.ts";
import { createWrites, type Writes } from "./writes.ts";

/** A transaction's rows and the events that become true with its commit. */
export interface Transaction extends Writes {
  record(event: StateEvent): Promise<void>;
  /** Runs `hook` once the transaction is committed. */
  afterCommit(hook: () => void): void;
}

/** Runs work in a transaction; repeats it after a deadlock, so it touches nothing but `tx`. */
export type Transactions = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

export const transactions =
  (database: Database, sealer: Sealer): Transactions =>
  (work) =>
    database.transaction((em) =>
      work({
        ...createWrites(em, sealer),
        record: (event) => recordStateEvent(em, event),
        afterCommit: (hook) => afterCommit(em, hook),
      }),
    );
