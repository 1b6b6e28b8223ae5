import type { EntitySchema } from "@mikro-orm/core";
import type { Database } from "./database.ts";
import { mapUniqueViolation, type UniqueErrors } from "./failures.ts";
import { afterCommit, type TransactionMode } from "./transaction.ts";
import { type EntityManager, noteChange } from "./unit-of-work.ts";

/**
 * Maps each noun of a service's store that has the part `Part` to the type that this part creates: `rows` creates
 * `tx.<noun>`, and `reads` creates `app.reads.<noun>`.
 */
export type PartsOf<Nouns, Part extends string> = {
  [Name in keyof Nouns as Nouns[Name] extends Record<Part, unknown>
    ? Name
    : never]: Nouns[Name] extends Record<Part, (...args: never[]) => infer Created>
    ? Created
    : never;
};

/**
 * Returns a function that creates one part (such as `reads`) of the nouns that define it. It creates the part of a noun
 * when it is first used, because a transaction uses few of the nouns. The `nouns.ts` of a service calls this function
 * for `reads`, and `createTransactions` calls it for `rows`.
 */
export function partsOf<Nouns extends Record<string, object>, Part extends string>(
  nouns: Nouns,
  part: Part,
): (...args: readonly unknown[]) => PartsOf<Nouns, Part> {
  const parts = {};
  for (const [name, noun] of Object.entries<Partial<Record<string, unknown>>>(nouns)) {
    const create = noun[part];
    if (typeof create !== "function") continue;
    Object.defineProperty(parts, name, {
      get(this: { args: readonly unknown[] }) {
        const value: unknown = create(...this.args);
        Object.defineProperty(this, name, { value });
        return value;
      },
    });
  }
  return (...args) => Object.create(parts, { args: { value: args } });
}

interface Mapped {
  entity?: EntitySchema;
  entities?: readonly EntitySchema[];
}

/** Returns the ORM schemas of all nouns, from the member `entity` or `entities` of each. */
export const entitiesOf = (nouns: Readonly<Record<string, object>>): readonly EntitySchema[] =>
  Object.values<Mapped>(nouns).flatMap(({ entity, entities = [] }) =>
    entity ? [entity] : entities,
  );

/** Returns the errors for violations of unique constraints, from the member `uniqueErrors` of each noun. */
const uniqueErrorsOf = (nouns: Readonly<Record<string, object>>): UniqueErrors =>
  Object.assign(
    {},
    ...Object.values<{ uniqueErrors?: UniqueErrors }>(nouns).map(
      ({ uniqueErrors }) => uniqueErrors,
    ),
  );

/**
 * Returns the tables whose rows are deleted with their organization, in the order of the nouns: each noun's
 * `deletedWithOrganization`.
 */
export const tablesOfOrganization = (nouns: Readonly<Record<string, object>>): readonly string[] =>
  Object.values<{ deletedWithOrganization?: string }>(nouns).flatMap(
    ({ deletedWithOrganization: table }) => (table === undefined ? [] : [table]),
  );

/**
 * The rows of one transaction as `tx.<noun>`, and functions for events, audit records and hooks that take effect when
 * the transaction commits.
 */
export type TxOf<Nouns, Event, Change> = PartsOf<Nouns, "rows"> & {
  /** Publishes an event, and records its change in the audit trail. */
  record(event: Event): Promise<void>;
  /** Records, in the audit trail, a change that has no event. */
  audit(change: Change): Promise<void>;
  /** Names a change that the row's own columns do not contain, so that the events of the row list it. */
  noteChange(row: object, name: string): void;
  /** Runs `hook` once the transaction is committed. */
  afterCommit(hook: () => void): void;
};

/** The functions that `tx.record` and `tx.audit` call. */
interface Recorders<Event, Change> {
  event(em: EntityManager, event: Event): Promise<void>;
  change(em: EntityManager, change: Change): Promise<void>;
}

/**
 * Creates the function that runs use cases in transactions of the database; see `Database.transaction`. A violation of a
 * unique constraint is thrown as the error of the member `uniqueErrors` of a noun: another transaction has taken the
 * value since it was checked.
 */
export function createTransactions<Nouns extends Record<string, object>, Event, Change>(
  database: Database,
  nouns: Nouns,
  recorders: Recorders<Event, Change>,
  ...args: unknown[]
) {
  const uniqueErrors = uniqueErrorsOf(nouns);
  const rowsIn = partsOf(nouns, "rows");
  return async <T>(
    work: (tx: TxOf<Nouns, Event, Change>) => Promise<T>,
    mode?: TransactionMode,
  ): Promise<T> => {
    try {
      return await database.transaction(
        (em) =>
          work(
            Object.assign(rowsIn(em, ...args), {
              record: (event: Event) => recorders.event(em, event),
              audit: (change: Change) => recorders.change(em, change),
              noteChange,
              afterCommit: (hook: () => void) => afterCommit(em, hook),
            }),
          ),
        mode,
      );
    } catch (error) {
      throw mapUniqueViolation(error, uniqueErrors);
    }
  };
}
