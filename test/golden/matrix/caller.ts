import type { Grants } from "@statehouse/authorization";
import type { CredentialType } from "@statehouse/gateway/http/authentication";
import type { Api } from "../../stack/http.ts";
import type { GivenRole, RolePlace } from "../../stack/roles.ts";
import type { MatrixFixture } from "./fixture.ts";

/** A caller of every route. */
export interface Caller {
  name: string;
  /** Undefined: no token, or one that is no longer valid. */
  type: CredentialType | undefined;
  api: Api;
  token: string;
  /** The grants that access should return for it. */
  grants(): Grants;
  /** For users. */
  userId?: string;
  username?: string;
  /** The membership through which it is invited. */
  invitationId?: string;
  /** A team that it is in and that does not make it an owner. */
  teamId?: string;
  /** Its own organization, a different one. */
  organization?: string;
  /** Of its team's access to project or workspace. */
  given?: GivenRole;
  /** Gives it its role on an object created later. */
  give(place: RolePlace): Promise<void>;
  /** For runs, which take locks through their runner. */
  lock?(): Promise<void>;
}

/** A role, and how a caller gets it in a fixture. */
export interface Role {
  name: string;
  cast(fixture: MatrixFixture, place: Required<RolePlace>): Promise<Caller>;
  /** Also in a separate organization, where user tokens are then refused. */
  withoutUserTokens?: true;
}
