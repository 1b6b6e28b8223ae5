import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
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

async function workspace(): Promise<{ id: string; name: string; projectId: string }> {
  const settings = { name: running.unique("workspace") };
  const created = await running.service.createWorkspace({ organizationName, settings }, owner);
  if (!created.workspace) throw new Error("no workspace was made");
  return created.workspace;
}

async function pool(settings: Record<string, unknown> = {}): Promise<string> {
  const input = { organizationName, settings: { name: running.unique("pool"), ...settings } };
  const { agentPool } = await running.agentPools.createAgentPool(input, owner);
  return agentPool?.id ?? "";
}

test("the list can be filtered by the workspace that may use a pool", async () => {
  proves("Agent pools/allowed workspaces and projects, excluded workspaces");
  const [one, other] = [await workspace(), await workspace()];
  const forAll = await pool();
  const butOne = await pool({ excludedWorkspaces: { ids: [one.id] } });
  const onlyOne = await pool({ organizationScoped: false, allowedWorkspaces: { ids: [one.id] } });
  const project = await pool({
    organizationScoped: false,
    allowedProjects: { ids: [one.projectId] },
  });
  const forNone = await pool({ organizationScoped: false });
  const usable = async (allowedWorkspaceName: string, allowedProjectName = "") => {
    const names = { allowedWorkspaceName, allowedProjectName };
    const request = { organizationName, ...names, sort: "created-at" };
    const { agentPools, totalCount } = await running.agentPools.listAgentPools(request, owner);
    expect(totalCount).toBe(agentPools.length);
    return agentPools.map(({ id }) => id).toSorted();
  };
  expect(await usable(one.name)).toEqual([forAll, onlyOne, project].toSorted());
  expect(await usable(other.name)).toEqual([forAll, butOne, project].toSorted());
  expect(await usable("")).toHaveLength(5);
  expect(await usable("nowhere")).toEqual([]);
  expect(await usable("", "Default Project")).toEqual([forAll, butOne, project].toSorted());
  expect(await usable(one.name, "Default Project")).toEqual([forAll, project].toSorted());
  expect(await usable("", "No Project")).toEqual([]);
  expect(forNone).toMatch(/^apool-[A-Za-z0-9]{16}$/);
});

test("given relations are replaced, absent ones remain; an unknown id changes nothing", async () => {
  const { id: workspaceId, projectId } = await workspace();
  const id = await pool({
    allowedWorkspaces: { ids: [workspaceId] },
    allowedProjects: { ids: [projectId] },
  });
  const { agentPool } = await running.agentPools.updateAgentPool(
    { id, settings: { allowedProjects: { ids: [] } } },
    owner,
  );
  expect(agentPool).toMatchObject({ allowedWorkspaceIds: [workspaceId], allowedProjectIds: [] });
  const unknown = running.agentPools.updateAgentPool(
    { id, settings: { allowedWorkspaces: { ids: ["ws-0000000000000000"] } } },
    owner,
  );
  expect((await failureOf(unknown)).fields).toMatchObject([{ field: "allowedWorkspaces" }]);
  const shown = await running.agentPools.getAgentPool({ id }, owner);
  expect(shown.agentPool?.allowedWorkspaceIds).toEqual([workspaceId]);
});
