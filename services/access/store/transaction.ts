import type { Database, EntityManager } from "@statehouse/postgres";
import type { AccessEvent } from "../domain/events.ts";
import { organizationRows } from "./organization.ts";
import { record } from "./outbox.ts";
import { runTokenRows } from "./run-token.ts";
import { teamRows } from "./team.ts";
import { teamMemberRows } from "./team-member.ts";
import { teamProjectRows } from "./team-project.ts";
import { userRows } from "./user.ts";
import { userTokenRows } from "./user-token.ts";

/** The rows of access inside one transaction, and its outbox. */
const rowsIn = (em: EntityManager) => ({
  users: userRows(em),
  userTokens: userTokenRows(em),
  organizations: organizationRows(em),
  runTokens: runTokenRows(em),
  teams: teamRows(em),
  teamMembers: teamMemberRows(em),
  teamProjects: teamProjectRows(em),
  record: (event: AccessEvent) => record(em, event),
});

export type Tx = ReturnType<typeof rowsIn>;

/** Runs use cases in transactions of the database; see `Database.transaction`. */
export const transactions =
  (database: Database) =>
  <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    database.transaction((em) => work(rowsIn(em)));
