/**
 * SQL expression: whether the organization with this id is neither being created nor being deleted. Use it in the
 * select list: as a condition it would prevent PostgreSQL from reading a page in the order of an index.
 */
export const organizationIsActive = (organizationId: string): string =>
  // index: organizations_pkey
  `(select o.status from organizations o where o.id = ${organizationId}) = 'active'`;
