/**
 * SQL expression: whether the organization with this id is neither being created nor being deleted. Select it; in a
 * condition, a page would not be read in the order of its index.
 */
export const organizationIsActive = (organizationId: string): string =>
  // index: organizations_pkey
  `(select o.status from organizations o where o.id = ${organizationId}) = 'active'`;
