import type { Grants } from "@statehouse/authorization";
import type { CredentialType } from "@statehouse/gateway/http/authentication";
import type { Api } from "../../stack/http.ts";
import type { RoleGrants, RoleTarget } from "../../stack/roles.ts";
import type { MatrixFixture } from "./fixture.ts";

/** A caller that calls every route. */
export interface Caller {
  name: string;
  /** Undefined for a caller without a token or with a token that is not valid. */
  type: CredentialType | undefined;
  api: Api;
  token: string;
  /** Returns the grants that the access service should return for the caller. */
  grants(): Grants;
  /** The user's id; set only for users. */
  userId?: string;
  username?: string;
  /** The organization membership that invites the user. */
  invitationId?: string;
  /** A team to which the user belongs and that is not the owners team. */
  teamId?: string;
  /** The name of another organization that the user owns. */
  organization?: string;
  /** The ids of the team's access to the project or workspace. */
  roleGrants?: RoleGrants;
  /** Grants the caller its role on an object that is created later. */
  give(target: RoleTarget): Promise<void>;
  /** Takes the lock for the caller. Set only for runs, because their runner locks for them. */
  lock?(): Promise<void>;
}

/** A role, and the function that creates a caller with it in a fixture. */
export interface Role {
  name: string;
  cast(fixture: MatrixFixture, target: Required<RoleTarget>): Promise<Caller>;
  /** Whether the caller is created in a separate organization, which then refuses user tokens. */
  withoutUserTokens?: true;
}
