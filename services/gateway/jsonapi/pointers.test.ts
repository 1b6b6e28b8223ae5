import { expect, test } from "vitest";
import { pointerOf } from "./pointers.ts";

test.each([
  ["name", "/data/attributes/name"],
  ["autoApply", "/data/attributes/auto-apply"],
  ["deleteOlderThanNDays", "/data/attributes/delete-older-than-n-days"],
  ["vcsRepo.identifier", "/data/attributes/vcs-repo/identifier"],
  ["triggerPrefixes[3]", "/data/attributes/trigger-prefixes/3"],
  ["organizationAccess[manage-Runs]", "/data/attributes/organization-access/manage-Runs"],
])("the field %s is the attribute at %s", (path, pointer) => {
  expect(pointerOf(path)).toBe(pointer);
});

test.each([
  ["projectId", "/data/relationships/project"],
  ["tagBindings", "/data/relationships/tag-bindings"],
  ["tagBindings[2]", "/data/relationships/tag-bindings/data/2/attributes"],
  ["tagBindings[2].key", "/data/relationships/tag-bindings/data/2/attributes/key"],
  ["consumerIds[12]", "/data/12/id"],
  ["vcsRepo.appInstallationId", "/data/attributes/vcs-repo/vcs-app-installation-id"],
  ["vcsRepo.tagsRegex", "/data/attributes/vcs-repo/tags-regex"],
])("the route places the field %s at %s", (path, pointer) => {
  const pointers = {
    projectId: "/data/relationships/project",
    tagBindings: "/data/relationships/tag-bindings",
    "tagBindings[]": "/data/relationships/tag-bindings/data/[]/attributes",
    "consumerIds[]": "/data/[]/id",
    "vcsRepo.appInstallationId": "/data/attributes/vcs-repo/vcs-app-installation-id",
  };
  expect(pointerOf(path, pointers)).toBe(pointer);
});

test("a route computes the pointer of a map entry from its key", () => {
  const pointers = {
    "permissions[]": (name: string) => `/data/attributes/${name.replace(".", "/")}`,
  };
  expect(pointerOf("permissions[workspace-access.runs]", pointers)).toBe(
    "/data/attributes/workspace-access/runs",
  );
});
