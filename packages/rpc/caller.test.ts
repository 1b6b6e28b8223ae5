import type { Grants, OrganizationGrants } from "@statehouse/authorization";
import { expect, test } from "vitest";
import { createCallers } from "./caller.ts";

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

/**
 * Creates callers for a user in two organizations. The grants that are loaded for the user always have the version
 * vector `current()`, whichever versions were requested.
 */
function callers(current: () => string) {
  const loads: string[] = [];
  const callerOf = createCallers(async ({ versions }): Promise<Grants> => {
    loads.push(versions);
    return {
      principal: { type: "user", id: "user-1" },
      versions: current(),
      administrator: false,
      organizations: new Map([of("org-a"), of("org-b")]),
    };
  });
  const organizationsOf = async (versions: string) => {
    const caller = await callerOf({ type: "user", id: "user-1", versions });
    return caller.kind === "principal" ? [...caller.grants.organizations.keys()] : undefined;
  };
  return { loads, organizationsOf };
}

test("tokens of one principal share its grants, each without the organizations that withhold them", async () => {
  const { loads, organizationsOf } = callers(() => "u:1;org-a:1;org-b:1");
  expect(await organizationsOf("u:1;org-a:1;org-b:1!")).toEqual(["org-a"]);
  expect(await organizationsOf("u:1;org-a:1;org-b:1")).toEqual(["org-a", "org-b"]);
  expect(await organizationsOf("u:1;org-a:1!;org-b:1!")).toEqual([]);
  expect(await organizationsOf("u:1;org-a:1;org-b:1!")).toEqual(["org-a"]);
  expect(loads).toEqual(["u:1;org-a:1;org-b:1"]);
});

test("grants that were read at later versions are not cached under earlier ones", async () => {
  let current = "u:1;org-a:1;org-b:2";
  const { loads, organizationsOf } = callers(() => current);
  // Simulates a change of the grants after the token was authenticated and before the grants were read.
  expect(await organizationsOf("u:1;org-a:1;org-b:1!")).toEqual(["org-a"]);
  expect(await organizationsOf("u:1;org-a:1;org-b:2")).toEqual(["org-a", "org-b"]);
  expect(await organizationsOf("u:1;org-a:1!;org-b:2")).toEqual(["org-b"]);
  current = "u:1;org-a:1;org-b:3";
  expect(await organizationsOf("u:1;org-a:1;org-b:1!")).toEqual(["org-a"]);
  expect(loads).toEqual(["u:1;org-a:1;org-b:1", "u:1;org-a:1;org-b:1"]);
});
