import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { teamRole, teamRoles } from "../stack/roles.ts";
import { newActor } from "./actors.ts";
import { useFixture } from "./fixture.ts";

// A workspace's document shows the caller's permissions as flags, such as `can-queue-run`. These tests check which
// flags each permission of a custom grant sets. Statehouse itself does not use the flags for runs, variables and run
// tasks; runners and consoles use them.

const fixture = useFixture();

const outputs = ["can-read-state-outputs"];
const states = [...outputs, "can-read-state-versions"];
const plan = ["can-queue-run"];
const apply = [...plan, "can-queue-apply", "can-queue-destroy"];
const lock = ["can-lock", "can-unlock"];
const variables = ["can-read-variable"];

/** The flags that each role adds to the flags of every custom grant, keyed by the role's name. */
const flags: Readonly<Record<string, readonly string[]>> = {
  "project custom": [],
  "project project-access.settings=update": [],
  "project project-access.settings=delete": [],
  "project project-access.teams=read": [],
  "project project-access.teams=manage": [],
  "project project-access.variable-sets=read": [],
  "project project-access.variable-sets=write": [],
  "project workspace-access.runs=plan": plan,
  "project workspace-access.runs=apply": apply,
  "project workspace-access.policy-mocks=read": [],
  "project workspace-access.state-versions=read-outputs": outputs,
  "project workspace-access.state-versions=read": states,
  "project workspace-access.state-versions=write": [...states, "can-create-state-versions"],
  "project workspace-access.variables=read": variables,
  "project workspace-access.variables=write": [...variables, "can-update-variable"],
  "project workspace-access.create=true": [],
  "project workspace-access.locking=true": lock,
  "project workspace-access.delete=true": ["can-destroy"],
  "project workspace-access.move=true": [],
  "project workspace-access.run-tasks=true": ["can-manage-run-tasks"],
  "project workspace-access.policy-overrides=true": [],
  "workspace custom": [],
  "workspace runs=plan": plan,
  "workspace runs=apply": apply,
  "workspace variables=read": variables,
  "workspace variables=write": [...variables, "can-update-variable"],
  "workspace state-versions=read-outputs": outputs,
  "workspace state-versions=read": states,
  "workspace state-versions=write": [...states, "can-create-state-versions"],
  "workspace policy-mocks=read": [],
  "workspace workspace-locking=true": lock,
  "workspace run-tasks=true": ["can-manage-run-tasks"],
  "workspace policy-overrides=true": [],
};

test("documents show every permission of a custom grant", () => {
  const custom = teamRoles.filter(
    ({ onProject, onWorkspace }) => (onProject ?? onWorkspace)?.access === "custom",
  );
  expect(Object.keys(flags).toSorted()).toEqual(custom.map(({ name }) => name).toSorted());
});

test.each(Object.keys(flags))("%s has exactly these flags", async (name) => {
  proves(
    "Team project permissions/workspace-access.runs",
    "Team project permissions/workspace-access.policy-mocks",
    "Team project permissions/workspace-access.variables",
    "Team project permissions/workspace-access.run-tasks",
  );
  const actor = await newActor(fixture(), teamRole(name));
  const { body } = await actor.api.get(`/workspaces/${await actor.workspace()}`);
  const { permissions } = body.data.attributes;
  const held = Object.keys(permissions).filter((flag) => permissions[flag] === true);
  expect(held.toSorted()).toEqual(
    ["can-read-run", "can-read-settings", ...(flags[name] ?? [])].toSorted(),
  );
});
