import type { Database, EntityManager } from "@statehouse/postgres";
import type { AccessEvent } from "../domain/events.ts";
import { organizationRows } from "./organization.ts";
import { membershipRows } from "./organization-membership.ts";
import { record } from "./outbox.ts";
import { runTokenRows } from "./run-token.ts";
import { teamRows } from "./team.ts";
import { teamAccessRows } from "./team-access.ts";
import { teamMemberRows } from "./team-member.ts";
import { tokenRows } from "./token.ts";
import { userRows } from "./user.ts";

/** The rows of access inside one transaction, and its outbox. */
const rowsIn = (em: EntityManager) => ({
  users: userRows(em),
  tokens: tokenRows(em),
  organizations: organizationRows(em),
  memberships: membershipRows(em),
  runTokens: runTokenRows(em),
  teams: teamRows(em),
  teamMembers: teamMemberRows(em),
  teamAccess: teamAccessRows(em),
  record: (event: AccessEvent) => record(em, event),
});

export type Tx = ReturnType<typeof rowsIn>;

/** Runs use cases in transactions of the database; see `Database.transaction`. */
export const transactions =
  (database: Database) =>
  <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    database.transaction((em) => work(rowsIn(em)));
