/**
 * The organization-level permissions of a team, by their names in documents. Permissions for features that this product
 * does not have are stored but have no effect: no action requires them.
 */
export const organizationAccessNames = [
  "manage-policies",
  "manage-policy-overrides",
  "delegate-policy-overrides",
  "manage-workspaces",
  "read-workspaces",
  "manage-projects",
  "read-projects",
  "manage-vcs-settings",
  "manage-run-tasks",
  "manage-modules",
  "manage-providers",
  "manage-public-modules",
  "manage-public-providers",
  "manage-membership",
  "manage-teams",
  "manage-organization-access",
  "access-secret-teams",
  "manage-agent-pools",
] as const;

export type OrganizationAccess = (typeof organizationAccessNames)[number];
