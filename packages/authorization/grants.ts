import type { ProjectPermissions } from "./levels.ts";
import type { WorkspacePermissions } from "./workspace-levels.ts";

export const principalTypes = ["user", "team", "organization", "run", "service"] as const;

/** The principal of a request. */
export interface Principal {
  type: (typeof principalTypes)[number];
  /** The id of the principal, or the name of a service. */
  id: string;
  /**
   * The version vector under which the principal's grants may be cached. Organizations to which the token has no access
   * are marked with `!`. Empty for a service.
   */
  versions: string;
  /** The id of the token that authenticated the request; undefined for a service. */
  tokenId?: string | undefined;
}

/** A team's access to one target. */
interface Grant<Permissions> {
  access: string;
  /**
   * Empty unless `access` is `custom`. A permission that is omitted then has the default value of the level `custom`.
   */
  permissions: Partial<Permissions>;
}

export type ProjectGrant = Grant<ProjectPermissions>;
export type WorkspaceGrant = Grant<WorkspacePermissions>;

export interface OrganizationGrants {
  organizationId: string;
  owner: boolean;
  /** Enabled organization-level permissions: `manage-workspaces`, `read-projects`, … */
  organizationAccess: ReadonlySet<string>;
  teamIds: readonly string[];
  /** Keyed by the project's id. */
  projects: ReadonlyMap<string, readonly ProjectGrant[]>;
  /** Keyed by the workspace's id. */
  workspaces: ReadonlyMap<string, readonly WorkspaceGrant[]>;
  /** True if the organization refuses user tokens and this principal used one: then no action is allowed. */
  refused: boolean;
}

/** All permissions of a principal at the version vector `versions`. */
export interface Grants {
  principal: { type: Principal["type"]; id: string };
  versions: string;
  /** Whether the principal is an administrator of the installation. The flag gives no permission in organizations. */
  administrator: boolean;
  organizations: ReadonlyMap<string, OrganizationGrants>;
  /** The organization whose audit trails token authenticates this principal; undefined for all other tokens. */
  auditTrailOf?: string | undefined;
}

/** The caller of a use case. */
export type Caller =
  | { kind: "principal"; principal: Principal; grants: Grants }
  | { kind: "service"; name: string };
