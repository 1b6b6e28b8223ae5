import type { Grants } from "@statehouse/authorization";
import type { CredentialType } from "@statehouse/gateway/http/authentication";
import type { Api } from "../../stack/http.ts";
import type { GivenRole, RolePlace } from "../../stack/roles.ts";
import type { Site } from "./site.ts";

/** Somebody who calls every route. */
export interface Caller {
  name: string;
  /** Undefined: no token, or one that counts no longer. */
  type: CredentialType | undefined;
  api: Api;
  token: string;
  /** What access ought to answer about it. */
  grants(): Grants;
  /** For users. */
  userId?: string;
  username?: string;
  /** By which it is asked to join. */
  invitationId?: string;
  /** A team that it is in and that it does not own everything by. */
  teamId?: string;
  /** Which is its own, elsewhere. */
  organization?: string;
  /** Of its team's access to the place. */
  given?: GivenRole;
  /** Gives it its role on something made later. */
  give(place: RolePlace): Promise<void>;
  /** For runs, which take locks through their runner. */
  lock?(): Promise<void>;
}

/** A role, and how somebody gets it at a site. */
export interface Role {
  name: string;
  cast(site: Site, place: Required<RolePlace>): Promise<Caller>;
  /** Also in an organization of its own, where user tokens are then refused. */
  withoutUserTokens?: true;
}
