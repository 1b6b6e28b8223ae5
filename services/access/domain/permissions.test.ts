import { expect, test } from "vitest";
import { checkedGrant, effectivePermissions } from "./permissions.ts";
import { permissionTables } from "./team-access.ts";

const details = ({ problems }: ReturnType<typeof checkedGrant>) =>
  Object.fromEntries(problems.map(({ field, detail }) => [field, detail]));

test("a fixed level takes no permissions, and says so by name", () => {
  const wanted = { access: "read", permissions: { "workspace-access.runs": "apply" } };
  expect(details(checkedGrant(permissionTables.workspace, wanted))).toEqual({
    "permissions[workspace-access.runs]":
      "Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
  });
});

test("of a fixed level each permission that is given is a problem, beside those that are none", () => {
  const permissions = {
    "workspace-access.runs": "read",
    "workspace-access.variables": "write",
    fly: true,
  };
  expect(
    Object.keys(
      details(checkedGrant(permissionTables.workspace, { access: "write", permissions })),
    ),
  ).toEqual([
    "permissions[workspace-access.runs]",
    "permissions[workspace-access.variables]",
    "permissions[fly]",
  ]);
  expect(details(checkedGrant(permissionTables.workspace, { access: "own", permissions }))).toEqual(
    {
      access: "Access must be read, plan, write, admin or custom",
      "permissions[fly]": "Fly is no permission",
    },
  );
});

test("every problem is named by its key", () => {
  const permissions = {
    "project-access.settings": "none",
    "workspace-access.create": "true",
    "workspace-access.fly": true,
  };
  expect(
    details(checkedGrant(permissionTables.project, { access: "custom", permissions })),
  ).toEqual({
    "permissions[project-access.settings]": "Settings must be read, update or delete",
    "permissions[workspace-access.create]": "Create must be false or true",
    "permissions[workspace-access.fly]": "Fly is no permission",
  });
  expect(
    details(checkedGrant(permissionTables.project, { access: "own", permissions: {} })),
  ).toEqual({
    access: "Access must be read, write, maintain, admin or custom",
  });
});

test("what custom leaves out has the table's default, then keeps its value, until the level changes", () => {
  const first = checkedGrant(permissionTables.project, {
    access: "custom",
    permissions: { "workspace-access.locking": true },
  });
  expect(first.permissions).toMatchObject({
    "project-access.settings": "read",
    "workspace-access.state-versions": "none",
    "workspace-access.locking": true,
  });
  const wanted = { access: "custom", permissions: { "workspace-access.runs": "plan" } };
  const second = checkedGrant(permissionTables.project, wanted, first);
  expect(second.permissions).toMatchObject({
    "workspace-access.runs": "plan",
    "workspace-access.locking": true,
  });
  const fixed = checkedGrant(
    permissionTables.project,
    { access: "maintain", permissions: {} },
    second,
  );
  expect(fixed.permissions).toEqual({});
  expect(effectivePermissions(permissionTables.project, fixed)).toMatchObject({
    "workspace-access.create": true,
    "workspace-access.move": false,
  });
  const again = checkedGrant(
    permissionTables.project,
    { access: "custom", permissions: {} },
    fixed,
  );
  expect(again.permissions).toMatchObject({ "workspace-access.locking": false });
});
