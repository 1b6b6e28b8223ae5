import { describe, expect, test } from "vitest";
import {
  type Action,
  actionRules,
  allowed,
  authorize,
  type Caller,
  type Grants,
  type OrganizationGrants,
  scope,
} from "./index.ts";

const organizationId = "org-1";
const projectId = "prj-1";
const target = { organizationId, projectId };

const grantsWith = (organization: Partial<OrganizationGrants> = {}): Grants => ({
  principal: { type: "user", id: "user-1" },
  versions: "v",
  administrator: false,
  organizations: new Map([
    [
      organizationId,
      {
        organizationId,
        owner: false,
        organizationAccess: new Set<string>(),
        teamIds: [],
        projects: new Map(),
        ...organization,
      },
    ],
  ]),
});
const level = (access: string, permissions = {}) =>
  grantsWith({ projects: new Map([[projectId, [{ projectId, access, permissions }]]]) });

const roles: Record<string, Grants> = {
  owner: grantsWith({ owner: true }),
  "manage-projects": grantsWith({ organizationAccess: new Set(["manage-projects"]) }),
  "manage-workspaces": grantsWith({ organizationAccess: new Set(["manage-workspaces"]) }),
  "read-workspaces": grantsWith({ organizationAccess: new Set(["read-workspaces"]) }),
  "read-projects": grantsWith({ organizationAccess: new Set(["read-projects"]) }),
  admin: level("admin"),
  maintain: level("maintain"),
  write: level("write"),
  read: level("read"),
  custom: level("custom"),
  member: grantsWith(),
  stranger: { ...grantsWith(), organizations: new Map() },
};

test("role × action is as the golden table says", async () => {
  const names = Object.keys(roles);
  const width = Math.max(...Object.keys(actionRules).map(({ length }) => length));
  const rows = Object.keys(actionRules).map((action) =>
    [
      action.padEnd(width),
      ...names.map((name) => {
        const grants = roles[name];
        const yes = grants !== undefined && allowed(grants, action as Action, target);
        return (yes ? "yes" : "-").padEnd(name.length);
      }),
    ].join(" | "),
  );
  const table = [["".padEnd(width), ...names].join(" | "), ...rows, ""].join("\n");
  await expect(table).toMatchFileSnapshot("./authorization.golden.txt");
});

describe("rights are the union of all grants", () => {
  test("manage-projects wins over a read grant", () => {
    const grants = grantsWith({
      organizationAccess: new Set(["manage-projects"]),
      projects: new Map([[projectId, [{ projectId, access: "read", permissions: {} }]]]),
    });
    expect(allowed(grants, "workspace:update", target)).toBe(true);
  });

  test("two teams' grants on one project add up", () => {
    const grants = grantsWith({
      projects: new Map([
        [
          projectId,
          [
            { projectId, access: "read", permissions: {} },
            { projectId, access: "custom", permissions: { "workspace-access.locking": true } },
          ],
        ],
      ]),
    });
    expect(allowed(grants, "workspace:lock", target)).toBe(true);
    expect(allowed(grants, "state:write", target)).toBe(false);
  });
});

test("what is not given is refused in another project and another organization", () => {
  const grants = level("admin");
  expect(allowed(grants, "workspace:read", { organizationId, projectId: "prj-2" })).toBe(false);
  expect(allowed(grants, "workspace:read", { organizationId: "org-2", projectId })).toBe(false);
});

describe("a refusal", () => {
  const callerWith = (grants: Grants): Caller => ({
    kind: "principal",
    principal: { type: "user", id: "user-1", versions: "v" },
    grants,
  });
  test("is not found for whoever may not read the target", () => {
    expect(() => authorize(callerWith(grantsWith()), "workspace:lock", target)).toThrow(
      expect.objectContaining({ kind: "notFound" }),
    );
  });
  test("is forbidden for whoever may read it", () => {
    expect(() => authorize(callerWith(level("read")), "workspace:lock", target)).toThrow(
      expect.objectContaining({ kind: "forbidden" }),
    );
  });
  test("meets a service too", () => {
    expect(() => authorize({ kind: "service", name: "state" }, "workspace:lock", target)).toThrow(
      expect.objectContaining({ kind: "forbidden" }),
    );
  });
});

describe("a list's scope", () => {
  test("is everything for an owner", () => {
    expect(scope(grantsWith({ owner: true }), "workspace:read", organizationId)).toEqual({
      all: true,
    });
  });
  test("is the projects of the grants for others, and nothing for a stranger", () => {
    expect(scope(level("read"), "workspace:read", organizationId)).toEqual({
      all: false,
      projectIds: [projectId],
    });
    expect(scope(level("read"), "workspace:read", "org-2")).toEqual({ all: false, projectIds: [] });
  });
});
