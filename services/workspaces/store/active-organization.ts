/**
 * SQL condition: the organization with this id is neither being created nor being deleted. A subquery, so that a page of
 * rows reads their organizations by id instead of all organizations.
 */
export const organizationIsActive = (organizationId: string): string =>
  // index: organizations_pkey
  `(select o.status from organizations o where o.id = ${organizationId}) = 'active'`;
