import { expect, test } from "vitest";
import { layerOf, nounCycles } from "./layers.ts";

test.each([
  ["services/workspaces/workspace-lock/domain.ts", "workspace-lock", "domain"],
  ["services/workspaces/workspace/list-store.ts", "workspace", "store"],
  ["services/workspaces/test/workspace-list.property.test.ts", "test", "test"],
  ["services/state/state-version/rollback-domain.test.ts", "state-version", "domain"],
  ["services/state/object/upload-http.ts", "object", "http"],
  ["services/access/ids-domain.ts", "ids-domain.ts", "domain"],
  ["services/access/nouns.ts", "nouns.ts", "store"],
  ["services/access/create-app.ts", "create-app.ts", "service"],
  ["services/gateway/team/resource.ts", "team", "resource"],
  ["services/gateway/http/middleware/body.ts", "http", "http"],
])("%s belongs to %s and is %s", (file, noun, layer) => {
  expect(layerOf(file)).toMatchObject({ noun, layer });
});

test.each([
  "services/workspaces/workspace/list.ts",
  "services/workspaces/workspace/list/store.ts",
  "services/workspaces/ids.ts",
  "services/workspaces/domain.ts",
  "services/workspaces/team/resource.ts",
  "services/gateway/team/store.ts",
])("the name of %s states no layer", (file) => {
  expect(layerOf(file)).toBeUndefined();
});

const workspace = 'import type { Lock } from "../workspace-lock/domain.ts";';
const lock = 'import { nextEpoch } from "../workspace/epoch-domain.ts";';

test("a cycle between nouns of one layer is found, also through different files", () => {
  const sources = new Map([
    ["services/workspaces/workspace/domain.ts", workspace],
    ["services/workspaces/workspace-lock/domain.ts", lock],
  ]);
  expect(nounCycles(sources)).toEqual([
    "services/workspaces, domain: workspace → workspace-lock → workspace",
  ]);
});

test("nouns may import each other in different layers", () => {
  const sources = new Map([
    ["services/workspaces/workspace/domain.ts", workspace],
    ["services/workspaces/workspace/settings-domain.ts", 'import "./domain.ts";'],
    ["services/workspaces/workspace-lock/app.ts", lock],
  ]);
  expect(nounCycles(sources)).toEqual([]);
});
