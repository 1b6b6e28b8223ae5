import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;
beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  organizationName = (await running.organization(owner)).name;
});
afterAll(() => running[Symbol.asyncDispose]());

const validateOnly = true;
const invalidName = { kind: "invalid", fields: [{ field: "name" }] };

/** Returns the result of `call`, and expects that `call` does not change the table. */
async function changingNothing<Result>(table: string, call: () => Promise<Result>) {
  const rows = () => running.sql(`select * from ${table} order by id`);
  const before = await rows();
  const result = await call();
  expect(await rows()).toEqual(before);
  return result;
}

describe("validate_only", () => {
  test("of a workspace returns the result, or the problems, and changes nothing", async () => {
    const create = (name: string) =>
      changingNothing("workspaces", () =>
        running.service.createWorkspace(
          { organizationName, settings: { name }, validateOnly },
          owner,
        ),
      );
    const name = running.unique("ws");
    expect((await create(name)).workspace).toMatchObject({ name });
    expect(await failureOf(create("a b"))).toMatchObject(invalidName);

    const request = { organizationName, settings: { name } };
    const { workspace } = await running.service.createWorkspace(request, owner);
    const update = (settings: { name?: string; autoApply?: boolean; projectId?: string }) =>
      changingNothing("workspaces", () =>
        running.service.updateWorkspace(
          { workspace: { by: { case: "id", value: workspace?.id ?? "" } }, settings, validateOnly },
          owner,
        ),
      );
    const { project } = await running.projects.createProject(
      { organizationName, name: running.unique("project") },
      owner,
    );
    const projectId = project?.id ?? "";
    const updated = await update({ autoApply: true, projectId });
    expect(updated.workspace).toMatchObject({ id: workspace?.id, autoApply: true, projectId });
    expect(await failureOf(update({ name: "a b" }))).toMatchObject(invalidName);
  });

  test("of a project returns the result, or the problems, and changes nothing", async () => {
    const create = (name: string) =>
      changingNothing("projects", () =>
        running.projects.createProject({ organizationName, name, validateOnly }, owner),
      );
    const name = running.unique("project");
    expect((await create(name)).project).toMatchObject({ name });
    expect(await failureOf(create(""))).toMatchObject(invalidName);

    const { project } = await running.projects.createProject({ organizationName, name }, owner);
    const id = project?.id ?? "";
    const update = (name: string) =>
      changingNothing("projects", () =>
        running.projects.updateProject({ id, name, validateOnly }, owner),
      );
    expect((await update("another")).project).toMatchObject({ id, name: "another" });
    expect(await failureOf(update(""))).toMatchObject(invalidName);
  });

  test("of an organization returns the result, or the problems, and changes nothing", async () => {
    const email = "owner@example.com";
    const create = (name: string) =>
      changingNothing("organizations", () =>
        running.organizations.createOrganization({ name, email, validateOnly }, owner),
      );
    const name = running.unique("acme");
    expect((await create(name)).organization).toMatchObject({ name });
    expect(await failureOf(create("a b"))).toMatchObject(invalidName);

    const update = (newName: string) =>
      changingNothing("organizations", () =>
        running.organizations.updateOrganization(
          { name: organizationName, newName, settings: { userTokensEnabled: false }, validateOnly },
          owner,
        ),
      );
    const newName = running.unique("acme");
    expect((await update(newName)).organization).toMatchObject({ name: newName });
    expect(await failureOf(update("a b"))).toMatchObject(invalidName);
  });
});
