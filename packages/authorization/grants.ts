import type { ProjectPermissions } from "./levels.ts";
import type { WorkspacePermissions } from "./workspace-levels.ts";

export const principalTypes = ["user", "team", "organization", "run", "service"] as const;

/** Whom a request is made for. */
export interface Principal {
  type: (typeof principalTypes)[number];
  /** For a service its name. */
  id: string;
  /** The version vector under which its grants may be cached; empty for a service. */
  versions: string;
}

/** What one team may do on one target of `Permissions`. */
interface Grant<Permissions> {
  access: string;
  /** Given only with access `custom`; absent permissions have the level's default. */
  permissions: Partial<Permissions>;
}

export type ProjectGrant = Grant<ProjectPermissions>;
export type WorkspaceGrant = Grant<WorkspacePermissions>;

export interface OrganizationGrants {
  organizationId: string;
  owner: boolean;
  /** Organization-level permissions that are on: manage-workspaces, read-projects, … */
  organizationAccess: ReadonlySet<string>;
  teamIds: readonly string[];
  /** By id of the project. */
  projects: ReadonlyMap<string, readonly ProjectGrant[]>;
  /** By id of the workspace. */
  workspaces: ReadonlyMap<string, readonly WorkspaceGrant[]>;
  /** The organization takes no user tokens, and this principal came with one: nothing is allowed. */
  refused: boolean;
}

/** Everything that a principal may do, as it stood at `versions`. */
export interface Grants {
  principal: { type: Principal["type"]; id: string };
  versions: string;
  /** Of the installation; gives nothing in organizations. */
  administrator: boolean;
  organizations: ReadonlyMap<string, OrganizationGrants>;
}

/** Who calls a use case. */
export type Caller =
  | { kind: "principal"; principal: Principal; grants: Grants }
  | { kind: "service"; name: string };
