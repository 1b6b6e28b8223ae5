/**
 * SQL expression for the version of the organization with this id, which is the revision of events about its teams,
 * memberships, grants and policies.
 */
export const versionOf = (organizationId: string): string =>
  // index: organizations_pkey
  `(select o.version from organizations o where o.id = ${organizationId})`;
