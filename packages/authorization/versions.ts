import type { Grants } from "./grants.ts";

/**
 * Follows the version of an organization, in a version vector (`u:5;org-a:7;org-b:9!`), that the principal's token has
 * no access to, although the principal belongs to it. The token's grants are those of the principal without it.
 */
export const WITHHELD = "!";

const WITHHELD_ORGANIZATION = /([^;:]+):\d+!/g;

/** The organizations that the token of a version vector has no access to. */
export const withheldOrganizations = (versions: string): string[] =>
  Array.from(versions.matchAll(WITHHELD_ORGANIZATION), ([, id = ""]) => id);

/** The version vector of the principal itself, whatever its token has access to. */
export const versionsOfPrincipal = (versions: string): string => versions.replaceAll(WITHHELD, "");

/** The grants of a principal as its token has them: without the organizations that its version vector withholds. */
export function grantsOfToken(grants: Grants, versions: string): Grants {
  const organizations = new Map(grants.organizations);
  for (const id of withheldOrganizations(versions)) organizations.delete(id);
  return { ...grants, versions, organizations };
}
