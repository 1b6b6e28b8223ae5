import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

type Settings = NonNullable<
  Parameters<RunningWorkspaces["service"]["updateWorkspace"]>[0]["settings"]
>;

let running: RunningWorkspaces;
let owner: Person;
let organizationName: string;

beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
  organizationName = (await running.organization(owner)).name;
});
afterAll(() => running[Symbol.asyncDispose]());

const byId = (value: string) => ({ by: { case: "id" as const, value } });
async function create() {
  const settings = { name: running.unique("ws") };
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings },
    owner,
  );
  return { id: workspace?.id ?? "" };
}

const update = async (id: string, settings: Settings) =>
  (await running.service.updateWorkspace({ workspace: byId(id), settings }, owner)).workspace;

async function newProject() {
  const name = running.unique("project");
  const { project } = await running.projects.createProject({ organizationName, name }, owner);
  return project?.id ?? "";
}

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
});
