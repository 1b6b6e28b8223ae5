import { actionRules } from "@statehouse/authorization";
import { expect, test } from "vitest";
import { organizationPermissions } from "./organization/resource.ts";
import { permissionsFrom } from "./permissions-resource.ts";
import { projectPermissions } from "./project/resource.ts";
import { workspacePermissionTable } from "./workspace/permissions-resource.ts";

test.each(
  Object.entries({ organizationPermissions, projectPermissions, workspacePermissionTable }),
)("%s contains only existing actions", (_, table) => {
  for (const action of Object.values(table)) {
    if (action !== null) expect(Object.keys(actionRules)).toContain(action);
  }
});

test("a document has every key; allowed actions are true", () => {
  const [, permissionsOf] = permissionsFrom({
    "can-see": "a:read",
    "can-go": "a:go",
    "can-fly": null,
  });
  expect(permissionsOf({ allowedActions: ["a:read", "a:fly"] })).toEqual({
    "can-see": true,
    "can-go": false,
    "can-fly": false,
  });
});
