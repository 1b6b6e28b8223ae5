import { type AuditRecord, recorders } from "@statehouse/audit";
import { createListing, type ListingSource, type Published } from "@statehouse/events";
import {
  createTransactions,
  type Database,
  entitiesOf,
  type PartsOf,
  partsOf,
  type TxOf,
  tablesOfOrganization,
} from "@statehouse/postgres";
import { authentication } from "./authentication/store.ts";
import { grants } from "./grants/store.ts";
import { organizations } from "./organization/store.ts";
import { memberships } from "./organization-membership/store.ts";
import { principalNames } from "./principal-name/store.ts";
import { runTokens } from "./run-token/store.ts";
import { teams } from "./team/store.ts";
import { teamAccess } from "./team-access/store.ts";
import { teamMembers } from "./team-member/store.ts";
import { tokens } from "./token/store.ts";
import { tokenTtlPolicies } from "./token-ttl-policy/store.ts";
import { users } from "./user/store.ts";

/**
 * All nouns of the store; no other file lists them. A noun has some of these parts:
 * - `entity` or `entities`: its ORM schemas.
 * - `rows`: its operations inside a transaction (`tx.<noun>`).
 * - `reads`: its queries outside any transaction, which change nothing (`app.reads.<noun>`).
 * - `listed`: its objects as events, for subscribers. Every noun with events has it.
 * - `deletedWithOrganization`: the table whose rows are deleted with their organization.
 *
 * The rows of an organization are deleted in the order of this object: a table must precede the tables to which it
 * refers.
 */
const nouns = {
  authentication,
  grants,
  principalNames,
  organizations,
  users,
  tokens,
  tokenTtlPolicies,
  teamAccess,
  teamMembers,
  memberships,
  teams,
  runTokens,
};

type Nouns = typeof nouns;

export type Tx = TxOf<Nouns, Published, AuditRecord>;
export type Reads = PartsOf<Nouns, "reads">;

export const entities = entitiesOf(nouns);

export const listing = (source: ListingSource) => createListing(nouns, source);

export const createReads = (database: Database): Reads => partsOf(nouns, "reads")(database);

export const transactions = (database: Database) =>
  createTransactions(database, nouns, recorders, tablesOfOrganization(nouns));
