import type { Database } from "@statehouse/postgres";
import { authenticationReads } from "./authentication.ts";
import { grantsReads } from "./grants.ts";
import { principalNameReads } from "./principal-name.ts";
import { runTokenReads } from "./run-token.ts";
import { teamReads } from "./team.ts";
import { userReads } from "./user.ts";
import { userTokenReads } from "./user-token.ts";

/** Everything that is read outside a transaction. */
export const readsOf = (database: Database) => ({
  authentication: authenticationReads(database),
  grants: grantsReads(database),
  principalNames: principalNameReads(database),
  runTokens: runTokenReads(database),
  teams: teamReads(database),
  users: userReads(database),
  userTokens: userTokenReads(database),
});

export type Reads = ReturnType<typeof readsOf>;
