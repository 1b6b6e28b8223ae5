import type { Grants } from "@statehouse/authorization";
import type { CredentialType } from "@statehouse/gateway/http/authentication";
import type { Api } from "../../stack/http.ts";
import type { GivenRole, RolePlace } from "../../stack/roles.ts";
import type { MatrixFixture } from "./fixture.ts";

/** A caller of every route. */
export interface Caller {
  name: string;
  /** Undefined for no token, or for a token that is not valid any more. */
  type: CredentialType | undefined;
  api: Api;
  token: string;
  /** The grants that access should return for the caller. */
  grants(): Grants;
  /** Set for users. */
  userId?: string;
  username?: string;
  /** The membership with which the user is invited. */
  invitationId?: string;
  /** A team of the user that does not make the user an owner. */
  teamId?: string;
  /** The name of another organization that the user owns. */
  organization?: string;
  /** The ids of its team's access to the project or workspace. */
  given?: GivenRole;
  /** Gives the caller its role on an object that is created later. */
  give(place: RolePlace): Promise<void>;
  /** Set for runs, which lock through their runner. */
  lock?(): Promise<void>;
}

/** A role, and how a caller gets it in a fixture. */
export interface Role {
  name: string;
  cast(fixture: MatrixFixture, place: Required<RolePlace>): Promise<Caller>;
  /** Whether the caller is also created in a separate organization, in which user tokens are then refused. */
  withoutUserTokens?: true;
}
