import type { Database } from "@statehouse/postgres";
import { authenticationReads } from "./authentication.ts";
import { grantsReads } from "./grants.ts";
import { membershipReads } from "./organization-membership.ts";
import { principalNameReads } from "./principal-name.ts";
import { runTokenReads } from "./run-token.ts";
import { teamReads } from "./team.ts";
import { teamAccessReads } from "./team-access.ts";
import { tokenReads } from "./token.ts";
import { userReads } from "./user.ts";

/** Everything that is read outside a transaction. */
export const readsOf = (database: Database) => ({
  authentication: authenticationReads(database),
  grants: grantsReads(database),
  memberships: membershipReads(database),
  principalNames: principalNameReads(database),
  runTokens: runTokenReads(database),
  teamAccess: teamAccessReads(database),
  teams: teamReads(database),
  users: userReads(database),
  tokens: tokenReads(database),
});

export type Reads = ReturnType<typeof readsOf>;
