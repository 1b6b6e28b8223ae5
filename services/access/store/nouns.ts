import type { EntitySchema } from "@mikro-orm/core";
import { createRecorder, type PublishedEvents } from "@statehouse/events";
import { afterCommit, type Database, type PartsOf, partsOf } from "@statehouse/postgres";
import { authentication } from "./authentication.ts";
import { grants } from "./grants.ts";
import { organizations } from "./organization.ts";
import { memberships } from "./organization-membership.ts";
import { principalNames } from "./principal-name.ts";
import { runTokens } from "./run-token.ts";
import { teams } from "./team.ts";
import { teamAccess } from "./team-access.ts";
import { teamMembers } from "./team-member.ts";
import { tokens } from "./token.ts";
import { users } from "./user.ts";

/**
 * Every noun of the store; no other file lists them. Each has some of: `entity` or `entities`, its ORM schemas; `rows`,
 * its part of a transaction (`tx.<noun>`); `reads`, statements outside any transaction that change nothing
 * (`app.reads.<noun>`); `published`, the messages of its events; `deletedWithOrganization`, the table whose rows are
 * deleted with their organization, in this order: a table stands before those that it refers to.
 */
const nouns = {
  authentication,
  grants,
  principalNames,
  organizations,
  users,
  tokens,
  teamAccess,
  teamMembers,
  memberships,
  teams,
  runTokens,
};

type Nouns = typeof nouns;
type Published = Extract<Nouns[keyof Nouns], { published: object }>["published"];
type EventOf<Table> = Table extends unknown
  ? {
      [Type in keyof Table]: Table[Type] extends (event: infer Event) => unknown ? Event : never;
    }[keyof Table]
  : never;

/** Every event that a use case can record. */
export type AccessEvent = EventOf<Published>;

/** The rows of one transaction, and the events and hooks that take effect with its commit. */
export interface Tx extends PartsOf<Nouns, "rows"> {
  record(event: AccessEvent): Promise<void>;
  /** Runs `hook` once the transaction is committed. */
  afterCommit(hook: () => void): void;
}

export type Reads = PartsOf<Nouns, "reads">;

const all = Object.values(nouns);

export const entities: readonly EntitySchema[] = all.flatMap((noun): EntitySchema[] => {
  if ("entities" in noun) return [...noun.entities];
  return "entity" in noun ? [noun.entity] : [];
});

const tablesOfOrganization = all.flatMap((noun) =>
  "deletedWithOrganization" in noun ? [noun.deletedWithOrganization] : [],
);

const record = createRecorder<AccessEvent>(
  Object.assign(
    {},
    ...all.map((noun) => ("published" in noun ? noun.published : {})),
  ) as PublishedEvents<AccessEvent>,
);

export const createReads = (database: Database): Reads => partsOf(nouns, "reads", database);

/** Runs use cases in transactions of the database; see `Database.transaction`. */
export const transactions =
  (database: Database) =>
  <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    database.transaction((em) =>
      work({
        ...partsOf(nouns, "rows", em, tablesOfOrganization),
        record: (event) => record(em, event),
        afterCommit: (hook) => afterCommit(em, hook),
      }),
    );
