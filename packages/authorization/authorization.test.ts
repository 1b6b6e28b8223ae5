import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import {
  type Action,
  actionRules,
  allowed,
  allowedActions,
  authorize,
  type Caller,
  type Grants,
  type OrganizationGrants,
  organizationAccessNames,
  permissionValues,
  projectLevels,
  requireAdministrator,
  scope,
  workspaceLevels,
  workspacePermissionValues,
} from "./index.ts";

const organizationId = "org-1";
const projectId = "prj-1";
const workspaceId = "ws-1";
const target = { organizationId, projectId, workspaceId };

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
        workspaces: new Map(),
        refused: false,
        ...organization,
      },
    ],
  ]),
});
const level = (access: string, permissions = {}) =>
  grantsWith({ projects: new Map([[projectId, [{ access, permissions }]]]) });

const workspaceLevel = (access: string, permissions = {}) =>
  grantsWith({ workspaces: new Map([[workspaceId, [{ access, permissions }]]]) });

/** Returns one role for each permission of a custom grant and each of its values above the default. */
const single = (
  values: Readonly<Record<string, readonly unknown[]>>,
  defaults: object,
  grant: (access: string, permissions: object) => Grants,
  on: string,
) =>
  Object.entries(values).flatMap(([permission, known]) =>
    known
      .filter((value) => value !== Reflect.get(defaults, permission))
      .map((value) => [`${on} ${permission}=${value}`, grant("custom", { [permission]: value })]),
  );

const roles: Record<string, Grants> = {
  owner: grantsWith({ owner: true }),
  "organization token": {
    ...grantsWith({ owner: true }),
    principal: { type: "organization", id: organizationId },
  },
  "audit trails token": {
    ...grantsWith(),
    principal: { type: "organization", id: "at-1" },
    organizations: new Map(),
    auditTrailOf: organizationId,
  },
  ...Object.fromEntries(
    organizationAccessNames.map((name) => [
      name,
      grantsWith({ organizationAccess: new Set([name]) }),
    ]),
  ),
  ...Object.fromEntries(
    Object.keys(projectLevels).map((access) => [`project ${access}`, level(access)]),
  ),
  ...Object.fromEntries(single(permissionValues, projectLevels.custom, level, "project")),
  ...Object.fromEntries(
    Object.keys(workspaceLevels).map((access) => [`workspace ${access}`, workspaceLevel(access)]),
  ),
  ...Object.fromEntries(
    single(workspacePermissionValues, workspaceLevels.custom, workspaceLevel, "workspace"),
  ),
  member: grantsWith(),
  administrator: { ...grantsWith(), administrator: true, organizations: new Map() },
  "owner with a refused token": grantsWith({ owner: true, refused: true }),
  outsider: { ...grantsWith(), organizations: new Map() },
};

test("each role may perform exactly the actions in the golden table", async () => {
  // The table has a row for each role. Its columns are numbered, because the names of all actions do not fit side by
  // side.
  const actions = Object.keys(actionRules) as Action[];
  const width = Math.max(...Object.keys(roles).map(({ length }) => length));
  const legend = actions.map((action, index) => `${String(index + 1).padStart(2)} ${action}`);
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)} ${cells.join(" ")}`;
  const rows = Object.entries(roles).map(([name, grants]) =>
    row(
      name,
      actions.map((action) => (allowed(grants, action, target) ? " x" : " .")),
    ),
  );
  const numbers = actions.map((_, index) => String(index + 1).padStart(2));
  const table = [...legend, "", row("", numbers), ...rows, ""].join("\n");
  await expect(table).toMatchFileSnapshot("./authorization.golden.txt");
});

describe("the rights of a caller are the union of all its grants", () => {
  test("manage-projects takes precedence over a read grant", () => {
    proves("Team project implied permissions/effective access");
    const grants = grantsWith({
      organizationAccess: new Set(["manage-projects"]),
      projects: new Map([[projectId, [{ access: "read", permissions: {} }]]]),
    });
    expect(allowed(grants, "workspace:update", target)).toBe(true);
  });

  test("the grants of two teams on one project are combined", () => {
    proves("Team project implied permissions/effective access");
    const grants = grantsWith({
      projects: new Map([
        [
          projectId,
          [
            { access: "read", permissions: {} },
            { access: "custom", permissions: { "workspace-access.locking": true } },
          ],
        ],
      ]),
    });
    expect(allowed(grants, "workspace:lock", target)).toBe(true);
    expect(allowed(grants, "state:write", target)).toBe(false);
  });
});

test("a grant gives no rights in another project or organization", () => {
  const grants = level("admin");
  expect(allowed(grants, "workspace:read", { ...target, projectId: "prj-2" })).toBe(false);
  expect(allowed(grants, "workspace:read", { ...target, organizationId: "org-2" })).toBe(false);
  const onWorkspace = workspaceLevel("admin");
  expect(allowed(onWorkspace, "workspace:read", { ...target, workspaceId: "ws-2" })).toBe(false);
  expect(allowed(onWorkspace, "project:read", target)).toBe(false);
});

test("a grant on a workspace remains when the workspace moves to another project", () => {
  expect(allowed(workspaceLevel("write"), "state:write", { ...target, projectId: "prj-2" })).toBe(
    true,
  );
});

test("kept lists of allowed actions contain what each action's check allows, for every target", () => {
  const all = Object.keys(actionRules) as Action[];
  const grants = grantsWith({
    projects: new Map([[projectId, [{ access: "read", permissions: {} }]]]),
    workspaces: new Map([[workspaceId, [{ access: "admin", permissions: {} }]]]),
  });
  // More projects than `allowedActions` caches targets, so that it drops the cached ones.
  const projects = Array.from({ length: 300 }, (_, number) => `prj-${number}`);
  const targets = projects.flatMap((project) =>
    ["org-1", "org-2"].flatMap((organization) =>
      [workspaceId, "ws-2", undefined].map((workspace) => ({
        organizationId: organization,
        projectId: project,
        ...(workspace === undefined ? {} : { workspaceId: workspace }),
      })),
    ),
  );
  for (const one of [...targets, ...targets.slice(0, 20)]) {
    const expected = all.filter((action) => allowed(grants, action, { workspaceId: "", ...one }));
    expect(allowedActions(grants, all, one)).toEqual(expected);
    expect(allowedActions(grants, ["state:read"], one)).toEqual(
      expected.filter((action) => action === "state:read"),
    );
  }
});

describe("a refusal", () => {
  const callerWith = (grants: Grants): Caller => ({
    kind: "principal",
    principal: { type: "user", id: "user-1", versions: "v" },
    grants,
  });
  test("is notFound if the caller may not read the target", () => {
    expect(() => authorize(callerWith(grantsWith()), "workspace:lock", target)).toThrow(
      expect.objectContaining({ kind: "notFound" }),
    );
  });
  test("is forbidden if the caller may read the target", () => {
    expect(() => authorize(callerWith(level("read")), "workspace:lock", target)).toThrow(
      expect.objectContaining({ kind: "forbidden" }),
    );
  });
  test("is unauthenticated if the organization does not accept user tokens", () => {
    const refused = grantsWith({ owner: true, refused: true });
    expect(() => authorize(callerWith(refused), "workspace:read", target)).toThrow(
      expect.objectContaining({ kind: "unauthenticated" }),
    );
  });
  test("is notFound for actions of the installation's administrators", () => {
    expect(() => requireAdministrator(callerWith(grantsWith({ owner: true })))).toThrow(
      expect.objectContaining({ kind: "notFound" }),
    );
    requireAdministrator(callerWith({ ...grantsWith(), administrator: true }));
  });
  test("also applies to services", () => {
    expect(() => authorize({ kind: "service", name: "state" }, "workspace:lock", target)).toThrow(
      expect.objectContaining({ kind: "forbidden" }),
    );
  });
});

describe("the scope of a list", () => {
  test("contains everything for an owner", () => {
    expect(scope(grantsWith({ owner: true }), "workspace:read", organizationId)).toEqual({
      all: true,
    });
  });
  test("contains the projects of the grants for a member, and nothing for a user without access", () => {
    expect(scope(level("read"), "workspace:read", organizationId)).toEqual({
      all: false,
      projectIds: [projectId],
      workspaceIds: [],
    });
    expect(scope(level("read"), "workspace:read", "org-2")).toEqual({
      all: false,
      projectIds: [],
      workspaceIds: [],
    });
  });
  test("contains workspaces that have grants of their own", () => {
    expect(scope(workspaceLevel("plan"), "workspace:read", organizationId)).toEqual({
      all: false,
      projectIds: [],
      workspaceIds: [workspaceId],
    });
  });
});
