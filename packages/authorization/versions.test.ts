import { expect, test } from "vitest";
import type { Grants, OrganizationGrants } from "./grants.ts";
import { grantsOfToken, versionsOfPrincipal, withheldOrganizations } from "./versions.ts";

const vector = "u:5;org-a:7!;org-b:9;org-c:11!";

test("the organizations with a mark are withheld", () => {
  expect(withheldOrganizations(vector)).toEqual(["org-a", "org-c"]);
  expect(withheldOrganizations("u:5;org-a:7;org-b:9")).toEqual([]);
  expect(withheldOrganizations("org-a:7")).toEqual([]);
  expect(withheldOrganizations("")).toEqual([]);
});

test("without the marks it is the vector of the principal", () => {
  expect(versionsOfPrincipal(vector)).toBe("u:5;org-a:7;org-b:9;org-c:11");
});

test("a token has the grants of its principal without the withheld organizations", () => {
  const of = (organizationId: string): [string, OrganizationGrants] => [
    organizationId,
    {
      organizationId,
      owner: true,
      organizationAccess: new Set(),
      teamIds: [],
      projects: new Map(),
      workspaces: new Map(),
      refused: false,
    },
  ];
  const grants: Grants = {
    principal: { type: "user", id: "user-1" },
    versions: versionsOfPrincipal(vector),
    administrator: true,
    organizations: new Map([of("org-a"), of("org-b"), of("org-c")]),
  };
  const { administrator, versions, organizations } = grantsOfToken(grants, vector);
  expect({ administrator, versions }).toEqual({ administrator: true, versions: vector });
  expect([...organizations.keys()]).toEqual(["org-b"]);
  expect(grants.organizations.size).toBe(3);
});
