import type { Grants } from "./grants.ts";

/**
 * Marks an organization in a version vector (`u:5;org-a:7;org-b:9!`): the principal belongs to the organization, but
 * its token has no access to it. The token has the principal's grants without those in the marked organizations.
 */
export const WITHHELD = "!";

const WITHHELD_ORGANIZATION = /([^;:]+):\d+!/g;

/** Returns the organizations that are marked in a token's version vector: the token has no access to them. */
export const withheldOrganizations = (versions: string): string[] =>
  Array.from(versions.matchAll(WITHHELD_ORGANIZATION), ([, id = ""]) => id);

/** Returns the version vector of the principal itself, without the marks that depend on its token. */
export const versionsOfPrincipal = (versions: string): string => versions.replaceAll(WITHHELD, "");

/** Returns a token's grants: those of its principal without the organizations that are marked in `versions`. */
export function grantsOfToken(grants: Grants, versions: string): Grants {
  const organizations = new Map(grants.organizations);
  for (const id of withheldOrganizations(versions)) organizations.delete(id);
  return { ...grants, versions, organizations };
}
