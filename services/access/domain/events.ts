import type { Run, RunToken } from "./run-token.ts";
import type { Team } from "./team.ts";
import type { TeamMember } from "./team-member.ts";
import type { TeamProject } from "./team-project.ts";
import type { User } from "./user.ts";
import type { UserToken } from "./user-token.ts";

/** What happened. `revision` orders the events of one subject. */
export type AccessEvent =
  | { type: "userCreated"; user: User; revision: bigint }
  | { type: "userTokenCreated"; userToken: UserToken; revision: bigint }
  | { type: "userTokenDeleted"; userToken: UserToken; revision: bigint }
  | { type: "runTokenCreated"; token: RunToken; run: Run; revision: bigint }
  | { type: "runTokenRenewed"; token: RunToken; run: Run; revision: bigint }
  | { type: "runTokenDeleted"; token: RunToken; run: Run; revision: bigint }
  | { type: "teamCreated"; team: Team; revision: bigint }
  | { type: "teamMemberAdded"; member: TeamMember; revision: bigint }
  | { type: "teamMemberRemoved"; member: TeamMember; revision: bigint }
  | { type: "teamProjectCreated"; teamProject: TeamProject; revision: bigint };
