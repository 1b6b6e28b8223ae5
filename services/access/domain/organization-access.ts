/** The organization-level permissions that a team can have, by their wire names. */
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

const known: ReadonlySet<string> = new Set(organizationAccessNames);

/** Whether a permission of this name exists. */
export const isOrganizationAccess = (name: string): boolean => known.has(name);
