/**
 * The organization-level permissions that a team can have, by their wire names. Those about nouns that
 * this product does not have are kept as records: no action asks for them.
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
