import { proves } from "@statehouse/testing/proves";
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
async function create(settings: Settings = {}, as = owner) {
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings: { name: running.unique("ws"), ...settings } },
    as,
  );
  if (!workspace) throw new Error("no workspace");
  return workspace;
}

const update = async (id: string, settings: Settings, unset: string[] = [], as = owner) =>
  (await running.service.updateWorkspace({ workspace: byId(id), settings, unset }, as)).workspace;

const newProject = async (name = running.unique("project")) =>
  (await running.projects.createProject({ organizationName, name }, owner)).project?.id ?? "";

describe("moving a workspace", () => {
  test("is effective in both services when the response is sent", async () => {
    const { id } = await create();
    const ask = async () =>
      (await running.locks.getPlacement({ workspaceId: id }, running.identities.state)).placement;
    const before = await ask();
    const projectId = await newProject();
    expect((await update(id, { projectId }))?.projectId).toBe(projectId);
    const after = await ask();
    expect(after?.projectId).toBe(projectId);
    expect(after?.version).toBeGreaterThan(before?.version ?? 0n);
    const atState = await running.stateSql(
      "select project_id, placement_version from workspace_states where workspace_id = $1",
      [id],
    );
    expect(atState).toEqual([{ project_id: projectId, placement_version: String(after?.version) }]);
    await update(id, { projectId });
    await update(id, { projectId: "" });
    expect(await ask()).toEqual(after);
  });

  test.each(["request", "answer"] as const)(
    "is unavailable while state's %s is lost; a repeat without a further change completes it",
    async (loss) => {
      const { id } = await create();
      const projectId = await newProject();
      const found = running.toState.lose("SetPlacement", loss);
      const failures = [
        await failureOf(update(id, { projectId })),
        await failureOf(update(id, { projectId })),
        await failureOf(update(id, { description: "d" })),
      ];
      found();
      expect(failures.map(({ kind }) => kind)).toEqual(Array(3).fill("unavailable"));
      expect(await update(id, { projectId })).toMatchObject({ projectId, description: "d" });
      const [row] = await running.sql<{ settled: boolean }>(
        "select placement_acknowledged = placement_version as settled from workspaces where id = $1",
        [id],
      );
      expect(row?.settled).toBe(true);
    },
  );

  test("requires the right in both projects", async () => {
    proves("Workspace/relationships.project");
    const mover = await running.person();
    const [from, to, foreign] = [await newProject(), await newProject(), await newProject()];
    const grants = [
      [from, "admin"],
      [to, "admin"],
      [foreign, "maintain"],
    ] as const;
    const organizationId = (await create()).organizationId;
    const { team } = await running.teams.createTeam({
      organizationId,
      settings: { name: running.unique("t") },
    });
    const teamId = team?.id ?? "";
    await running.teams.addTeamMember({ teamId, userId: mover.id });
    for (const [projectId, access] of grants) {
      await running.teamAccess.createTeamAccess({
        teamId,
        targetType: "project",
        targetId: projectId,
        access,
      });
    }
    const { id } = await create({ projectId: from });
    expect(await failureOf(update(id, { projectId: foreign }, [], mover))).toMatchObject({
      kind: "forbidden",
    });
    expect(await failureOf(update(id, { projectId: defaultProjectId }, [], mover))).toMatchObject({
      kind: "notFound",
    });
    expect((await update(id, { projectId: to }, [], mover))?.projectId).toBe(to);
  });
});
