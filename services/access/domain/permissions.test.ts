import { expect, test } from "vitest";
import { checkedGrant, effectivePermissions } from "./permissions.ts";
import { teamProjectTable } from "./team-project.ts";
import { teamWorkspaceTable } from "./team-workspace.ts";

const details = ({ problems }: ReturnType<typeof checkedGrant>) =>
  Object.fromEntries(problems.map(({ field, detail }) => [field, detail]));

test("a fixed level takes no permissions, and says so by name", () => {
  const wanted = { access: "read", permissions: { runs: "apply" } };
  expect(details(checkedGrant(teamWorkspaceTable, wanted))).toEqual({
    "/data/attributes/runs":
      "Runs is read-only when access level is 'read'; use the 'custom' access level to set this attribute.",
  });
});

test("of a fixed level each permission that is given is a problem, beside those that are none", () => {
  const permissions = { runs: "read", variables: "write", fly: true };
  expect(
    Object.keys(details(checkedGrant(teamWorkspaceTable, { access: "write", permissions }))),
  ).toEqual(["/data/attributes/runs", "/data/attributes/variables", "/data/attributes/fly"]);
  expect(details(checkedGrant(teamWorkspaceTable, { access: "own", permissions }))).toEqual({
    access: "Access must be read, plan, write, admin or custom",
    "/data/attributes/fly": "Fly is no permission",
  });
});

test("every problem is named by its key", () => {
  const permissions = {
    "project-access.settings": "none",
    "workspace-access.create": "true",
    "workspace-access.fly": true,
  };
  expect(details(checkedGrant(teamProjectTable, { access: "custom", permissions }))).toEqual({
    "/data/attributes/project-access/settings": "Settings must be read, update or delete",
    "/data/attributes/workspace-access/create": "Create must be false or true",
    "/data/attributes/workspace-access/fly": "Fly is no permission",
  });
  expect(details(checkedGrant(teamProjectTable, { access: "own", permissions: {} }))).toEqual({
    access: "Access must be read, write, maintain, admin or custom",
  });
});

test("what custom leaves out has the table's default, then keeps its value, until the level changes", () => {
  const first = checkedGrant(teamProjectTable, {
    access: "custom",
    permissions: { "workspace-access.locking": true },
  });
  expect(first.permissions).toMatchObject({
    "project-access.settings": "read",
    "workspace-access.state-versions": "none",
    "workspace-access.locking": true,
  });
  const wanted = { access: "custom", permissions: { "workspace-access.runs": "plan" } };
  const second = checkedGrant(teamProjectTable, wanted, first);
  expect(second.permissions).toMatchObject({
    "workspace-access.runs": "plan",
    "workspace-access.locking": true,
  });
  const fixed = checkedGrant(teamProjectTable, { access: "maintain", permissions: {} }, second);
  expect(fixed.permissions).toEqual({});
  expect(effectivePermissions(teamProjectTable, fixed)).toMatchObject({
    "workspace-access.create": true,
    "workspace-access.move": false,
  });
  const again = checkedGrant(teamProjectTable, { access: "custom", permissions: {} }, fixed);
  expect(again.permissions).toMatchObject({ "workspace-access.locking": false });
});
