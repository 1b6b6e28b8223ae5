import { effectivePermissions, permissionTables } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { type CheckedGrant, checkedGrant } from "./permissions-domain.ts";
import type { TargetType } from "./team-access/domain.ts";
import { problemsOf } from "./test/problems-of.ts";

interface Requested {
  access: string;
  permissions: Record<string, unknown>;
}

const details = (targetType: TargetType, requested: Requested) =>
  Object.fromEntries(
    problemsOf((problems) => checkedGrant(permissionTables[targetType], requested, problems)).map(
      ({ field, detail }) => [field, detail],
    ),
  );

const onProject = (requested: Requested, before?: CheckedGrant) =>
  checkedGrant(permissionTables.project, requested, new Problems(), before);

test("a fixed level accepts no permissions, and the problem names the permission", () => {
  const permissions = { "workspace-access.runs": "apply" };
  expect(details("workspace", { access: "read", permissions })).toEqual({
    "permissions[workspace-access.runs]":
      "Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
  });
});

test("with a fixed level, each given and each unknown permission is a problem", () => {
  proves("Team project permissions/settable only when access is custom; otherwise read-only");
  const permissions = {
    "workspace-access.runs": "read",
    "workspace-access.variables": "write",
    fly: true,
  };
  expect(Object.keys(details("workspace", { access: "write", permissions }))).toEqual([
    "permissions[workspace-access.runs]",
    "permissions[workspace-access.variables]",
    "permissions[fly]",
  ]);
  expect(details("workspace", { access: "own", permissions })).toEqual({
    access: "Access must be read, plan, write, admin or custom",
    "permissions[fly]": "Permission 'fly' is unknown",
  });
});

test("every problem names its permission", () => {
  const permissions = {
    "project-access.settings": "none",
    "workspace-access.create": "true",
    "workspace-access.fly": true,
  };
  expect(details("project", { access: "custom", permissions })).toEqual({
    "permissions[project-access.settings]": "Settings must be read, update or delete",
    "permissions[workspace-access.create]": "Create must be false or true",
    "permissions[workspace-access.fly]": "Permission 'fly' is unknown",
  });
  expect(details("project", { access: "own", permissions: {} })).toEqual({
    access: "Access must be read, write, maintain, admin or custom",
  });
});

test("a permission of projects is unknown on a workspace", () => {
  const permissions = { "workspace-access.create": true };
  expect(details("workspace", { access: "custom", permissions })).toEqual({
    "permissions[workspace-access.create]": "Permission 'create' is unknown",
  });
});

test("absent custom permissions have the defaults at first and then keep their value, also that of a level", () => {
  proves("Team project permissions/an unspecified permission has the default of custom");
  const first = onProject({
    access: "custom",
    permissions: { "workspace-access.locking": true },
  });
  expect(first.permissions).toMatchObject({
    "project-access.settings": "read",
    "workspace-access.state-versions": "none",
    "workspace-access.locking": true,
  });
  const changed = { access: "custom", permissions: { "workspace-access.runs": "plan" } };
  const second = onProject(changed, first);
  expect(second.permissions).toMatchObject({
    "workspace-access.runs": "plan",
    "workspace-access.locking": true,
  });
  const fixed = onProject({ access: "maintain", permissions: {} }, second);
  expect(fixed.permissions).toEqual({});
  expect(effectivePermissions(permissionTables.project, fixed)).toMatchObject({
    "workspace-access.create": true,
    "workspace-access.move": false,
  });
  const again = onProject({ access: "custom", permissions: {} }, fixed);
  expect(again.permissions).toMatchObject({
    "workspace-access.locking": true,
    "workspace-access.create": true,
  });
});
