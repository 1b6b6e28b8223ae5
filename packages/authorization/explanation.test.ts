import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  allowed,
  explain,
  type Grants,
  type OrganizationGrants,
  organizationAccessNames,
  permissionValues,
  type TeamGrants,
  workspaceActions,
  workspacePermissionValues,
} from "./index.ts";

const target = { organizationId: "org-1", projectId: "prj-1", workspaceId: "ws-1" };

const permissionsIn = (values: Readonly<Record<string, readonly unknown[]>>) =>
  fc.record(
    Object.fromEntries(
      Object.entries(values).map(([name, known]) => [name, fc.constantFrom(...known)]),
    ),
    { requiredKeys: [] },
  );
const levels = fc.constantFrom("read", "plan", "write", "maintain", "admin", "custom");
const teams: fc.Arbitrary<TeamGrants[]> = fc.array(
  fc.record({
    teamId: fc.constantFrom("team-1", "team-2", "team-3"),
    owners: fc.constantFrom(false, false, false, true),
    organizationAccess: fc.subarray([...organizationAccessNames], { maxLength: 2 }),
    onTargets: fc.array(
      fc.oneof(
        fc.record({
          targetType: fc.constant("project" as const),
          targetId: fc.constant("prj-1"),
          access: levels,
          permissions: permissionsIn(permissionValues),
        }),
        fc.record({
          targetType: fc.constant("workspace" as const),
          targetId: fc.constant("ws-1"),
          access: levels,
          permissions: permissionsIn(workspacePermissionValues),
        }),
      ),
      { maxLength: 2 },
    ),
  }),
  { maxLength: 3 },
);

/** Returns the grants of a principal that belongs to all the teams. */
function together(all: readonly TeamGrants[]): Grants {
  const grantsOn = (type: string) =>
    all.flatMap(({ onTargets }) => onTargets.filter(({ targetType }) => targetType === type));
  const organization: OrganizationGrants = {
    organizationId: "org-1",
    owner: all.some(({ owners }) => owners),
    organizationAccess: new Set(all.flatMap(({ organizationAccess }) => organizationAccess)),
    teamIds: all.map(({ teamId }) => teamId),
    projects: new Map([["prj-1", grantsOn("project")]]),
    workspaces: new Map([["ws-1", grantsOn("workspace")]]),
    refused: false,
  };
  return {
    principal: { type: "user", id: "user-1" },
    versions: "v",
    administrator: false,
    organizations: new Map([["org-1", organization]]),
  };
}

describe("an explanation", () => {
  test("has a grant exactly for the actions that all grants together allow", () => {
    fc.assert(
      fc.property(teams, (all) => {
        for (const action of workspaceActions) {
          expect(explain("user", all, action, target).length > 0, action).toBe(
            allowed(together(all), action, target),
          );
        }
      }),
    );
  });
  test("names the team, the target and the access of each grant", () => {
    const owners = { teamId: "team-1", owners: true, organizationAccess: [], onTargets: [] };
    const platform: TeamGrants = {
      teamId: "team-2",
      owners: false,
      organizationAccess: ["manage-workspaces", "manage-teams"],
      onTargets: [
        { targetType: "project", targetId: "prj-1", access: "write", permissions: {} },
        {
          targetType: "workspace",
          targetId: "ws-1",
          access: "custom",
          permissions: { "workspace-access.runs": "plan" },
        },
      ],
    };
    const source = (teamId: string, targetType: string, targetId: string, access: string) => ({
      teamId,
      targetType,
      targetId,
      access,
    });
    expect(explain("user", [owners, platform], "workspace:lock", target)).toEqual([
      source("team-1", "organization", "org-1", "owners"),
      source("team-2", "organization", "org-1", "manage-workspaces"),
      source("team-2", "project", "prj-1", "write"),
    ]);
    expect(explain("user", [platform], "workspace:plan", target)).toEqual([
      source("team-2", "organization", "org-1", "manage-workspaces"),
      source("team-2", "project", "prj-1", "write"),
      source("team-2", "workspace", "ws-1", "custom"),
    ]);
    expect(explain("organization", [owners], "workspace:lock", target)).toEqual([]);
  });
});
