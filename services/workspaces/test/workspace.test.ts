import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

type CreateRequest = Parameters<RunningWorkspaces["service"]["createWorkspace"]>[0];
type Settings = NonNullable<CreateRequest["settings"]>;

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;
let defaultProjectId: string;

beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  const organization = await running.organization(owner);
  organizationName = organization.name;
  defaultProjectId = organization.defaultProjectId;
});
afterAll(() => running[Symbol.asyncDispose]());

const byId = (value: string) => ({ by: { case: "id" as const, value } });
const byName = (name: string, of = organizationName) => ({
  by: { case: "name" as const, value: { organizationName: of, name } },
});
const fieldsOf = async (call: Promise<unknown>) =>
  (await failureOf(call)).fields.map(({ field, detail }) => `${field}: ${detail}`);

async function create(settings: Settings = {}, as = owner) {
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings: { name: running.unique("ws"), ...settings } },
    as,
  );
  if (!workspace) throw new Error("no workspace");
  return workspace;
}

async function show(workspace: ReturnType<typeof byId> | ReturnType<typeof byName>, as = owner) {
  return (await running.service.getWorkspace({ workspace }, as)).workspace;
}

const update = async (id: string, settings: Settings, unset: string[] = [], as = owner) =>
  (await running.service.updateWorkspace({ workspace: byId(id), settings, unset }, as)).workspace;

const newProject = async (name = running.unique("project")) =>
  (await running.projects.createProject({ organizationName, name }, owner)).project?.id ?? "";

describe("creating a workspace", () => {
  test("returns what is read next by id and by name", async () => {
    const settings = {
      description: `it's "quoted" \\ and ünïcode`,
      autoApply: true,
      workingDirectory: "a/b",
      engineVersion: "~> 1.6.0",
      triggerPatterns: { values: ["a,b", 'c"d', "{e}", "\\f"] },
      tagNames: { values: ["web", "prod"] },
      sourceName: "a client",
    };
    const created = await create(settings);
    expect(created).toMatchObject({
      ...settings,
      triggerPatterns: ["a,b", 'c"d', "{e}", "\\f"],
      tagNames: ["prod", "web"],
      organizationName,
      projectId: defaultProjectId,
      executionMode: "local",
      overwritesExecutionMode: false,
    });
    expect(created.allowedActions).toContain("workspace:force-delete");
    expect(await show(byId(created.id))).toEqual(created);
    expect(await show(byName(created.name))).toEqual(created);
  });

  test("uses the configured engine version by default", async () => {
    expect((await create()).engineVersion).toBe("1.11.3");
    expect((await create({ engineVersion: "latest" })).engineVersion).toBe("latest");
  });

  test("reports all problems, including a taken name", async () => {
    const { name } = await create();
    const settings = {
      name,
      executionMode: "agent",
      operations: true,
      engineVersion: "newest",
      tagNames: { values: ["hc:a"] },
      tagBindings: { tagBindings: [{ key: "a b", value: "" }] },
    };
    expect((await fieldsOf(create(settings))).sort()).toEqual([
      "agentPoolId: must be specified when using 'agent' execution mode",
      "engineVersion: Engine version is invalid",
      "name: Name has already been taken",
      "operations: Operations must not be given together with execution-mode",
      "tagBindings[0].key: Key is invalid",
      "tagNames[0]: Name has a reserved prefix",
    ]);
  });

  test.each([
    ["a space", "a b"],
    ["a slash", "a/b"],
    ["unicode", "ünïcode"],
    ["a NUL", "a\0b"],
    ["10,000 characters", "a".repeat(10_000)],
  ])("refuses a name with %s", async (_, name) => {
    expect((await fieldsOf(create({ name }))).join()).toMatch(/^name: Name is (invalid|too long)/);
    expect(await failureOf(show(byName(name)))).toMatchObject({ kind: "notFound" });
  });

  test("with one name by ten concurrent requests succeeds once; the others report the field", async () => {
    const name = running.unique("race");
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => create({ name })));
    const lost = outcomes.flatMap((o) => (o.status === "rejected" ? [o.reason.fields] : []));
    expect(lost).toEqual(
      Array.from({ length: 9 }, () => [{ field: "name", detail: "Name has already been taken" }]),
    );
  });

  test("in an unknown organization or project is not found", async () => {
    const settings = { name: "x" };
    for (const organizationName of ["nobody-has-this", "a b", "a\0b", ""]) {
      const call = running.service.createWorkspace({ organizationName, settings }, owner);
      expect(await failureOf(call)).toMatchObject({ kind: "notFound" });
    }
    for (const projectId of ["prj-none", "junk", "prj-\0"]) {
      expect(await failureOf(create({ projectId }))).toMatchObject({ kind: "notFound" });
    }
    const other = await running.person();
    const foreign = (await running.organization(other)).defaultProjectId;
    expect(await failureOf(create({ projectId: foreign }))).toMatchObject({ kind: "notFound" });
  });
});

describe("the execution mode", () => {
  test("is the organization's unless project or workspace override it", async () => {
    const projectId = await newProject();
    const inherits = await create({ projectId });
    const own = await create({ projectId, executionMode: "local" });
    expect(own.overwritesExecutionMode).toBe(true);
    await running.sql("update projects set default_execution_mode = 'remote' where id = $1", [
      projectId,
    ]);
    expect(await show(byId(inherits.id))).toMatchObject({
      executionMode: "remote",
      overwritesExecutionMode: false,
    });
    expect((await show(byId(own.id)))?.executionMode).toBe("local");
    expect(await update(own.id, { overwritesExecutionMode: false })).toMatchObject({
      executionMode: "remote",
      overwritesExecutionMode: false,
    });
    expect(await update(own.id, { operations: false })).toMatchObject({
      executionMode: "local",
      overwritesExecutionMode: true,
    });
  });
});

describe("updating a workspace", () => {
  test("changes given settings and keeps the others", async () => {
    const { id } = await create({ description: "d", autoApply: true });
    const changed = await update(id, { queueAllRuns: true, workingDirectory: "w" });
    expect(changed).toMatchObject({
      description: "d",
      autoApply: true,
      queueAllRuns: true,
      workingDirectory: "w",
    });
    await update(id, { autoDestroyAt: "2099-01-01T00:00:00Z" });
    const unset = await update(id, {}, ["autoDestroyAt"]);
    expect(unset?.autoDestroyAt).toBeUndefined();
    expect(await show(byId(id))).toEqual(unset);
  });

  test("by two concurrent requests loses no change", async () => {
    const { id } = await create();
    await Promise.all([
      ...Array.from({ length: 5 }, () => update(id, { description: "both" })),
      ...Array.from({ length: 5 }, () => update(id, { autoApply: true })),
    ]);
    expect(await show(byId(id))).toMatchObject({ description: "both", autoApply: true });
  });

  test("with a new name frees the old name and refuses a taken one", async () => {
    const one = await create();
    const other = await create();
    expect(await fieldsOf(update(one.id, { name: other.name }))).toEqual([
      "name: Name has already been taken",
    ]);
    const name = running.unique("renamed");
    await update(one.id, { name });
    expect((await show(byName(name)))?.id).toBe(one.id);
    expect(await failureOf(show(byName(one.name)))).toMatchObject({ kind: "notFound" });
    expect((await create({ name: one.name })).name).toBe(one.name);
    await update(one.id, { name });
  });

  test("refuses invalid settings and changes nothing", async () => {
    const { id } = await create({ description: "d" });
    expect(await fieldsOf(update(id, { description: "e", name: "a b" }))).toEqual([
      "name: Name is invalid",
    ]);
    expect((await show(byId(id)))?.description).toBe("d");
  });

  test("with tag bindings replaces all bindings", async () => {
    const { id } = await create({ tagNames: { values: ["old", "kept"] } });
    const tagBindings = [
      { key: "kept", value: "" },
      { key: "env", value: "prod" },
    ];
    expect((await update(id, { tagBindings: { tagBindings } }))?.tagNames).toEqual(["kept"]);
    const { tagBindings: now } = await running.tagBindings.listWorkspaceTagBindings(
      { workspaceId: id },
      owner,
    );
    expect(now.map(({ key, value }) => [key, value])).toEqual([
      ["env", "prod"],
      ["kept", ""],
    ]);
  });
});

describe("authorization", () => {
  test("a user without access gets not found, a reader may not change a workspace", async () => {
    const { id, organizationId } = await create();
    const outsider = await running.person();
    const reader = await running.person();
    const { team } = await running.teams.createTeam({
      organizationId,
      settings: { name: running.unique("r") },
    });
    const teamId = team?.id ?? "";
    await running.teams.addTeamMember({ teamId, userId: reader.id });
    await running.teamAccess.createTeamAccess({
      teamId,
      targetType: "project",
      targetId: defaultProjectId,
      access: "read",
    });
    expect(await failureOf(show(byId(id), outsider))).toMatchObject({ kind: "notFound" });
    expect(await failureOf(update(id, {}, [], outsider))).toMatchObject({ kind: "notFound" });
    expect((await running.service.batchGetWorkspaces({ ids: [id] }, outsider)).workspaces).toEqual(
      [],
    );
    const shown = await show(byId(id), reader);
    expect(shown?.allowedActions).toEqual(expect.arrayContaining(["workspace:read", "state:read"]));
    expect(shown?.allowedActions).not.toContain("workspace:update");
    expect(await failureOf(update(id, {}, [], reader))).toMatchObject({ kind: "forbidden" });
    expect(await failureOf(create({}, reader))).toMatchObject({ kind: "forbidden" });
    const ids = [id, "ws-none", "junk", "ws-\0"];
    const { workspaces } = await running.service.batchGetWorkspaces({ ids }, reader);
    expect(workspaces.map((workspace) => workspace.id)).toEqual([id]);
  });
});
