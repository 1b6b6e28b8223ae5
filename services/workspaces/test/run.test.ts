import { newId } from "@statehouse/postgres/ids";
import { ConfigurationVersionService } from "@statehouse/proto/statehouse/workspaces/v1/configuration_version";
import { RemoteStateConsumerService } from "@statehouse/proto/statehouse/workspaces/v1/remote_state_consumer";
import { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import { WorkspaceReadmeService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_readme";
import { createClient } from "@statehouse/rpc";
import { createRunner } from "@statehouse/rpc/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failureOf } from "./failure.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
let outsider: Person;
let workspaceId: string;
let runId: string;
let configurationVersionId: string;

beforeAll(async () => {
  running = await runWorkspaces();
  [owner, outsider] = [await running.person(), await running.person()];
  workspaceId = await newWorkspace();
  const runner = createRunner(running.channel, running.identities.runner);
  configurationVersionId = await runner.configurationVersion({ workspaceId });
  await runner.readme({ workspaceId, rawMarkdown: "# Read me" });
  runId = await runner.run({ workspaceId, status: "applied", configurationVersionId });
});
afterAll(() => running[Symbol.asyncDispose]());

async function newWorkspace(): Promise<string> {
  const { name: organizationName } = await running.organization(owner);
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings: { name: "network" } },
    owner,
  );
  return workspace?.id ?? "";
}

/**
 * Returns the numbers of runs, configuration versions and readmes that a user can read. The requests also contain
 * unknown ids.
 */
async function countReports(by: Person) {
  const { channel } = running;
  const { runs } = await createClient(RunService, channel, by).batchGetRuns({
    ids: [runId ?? "", newId("run"), "no id"],
  });
  const versions = createClient(ConfigurationVersionService, channel, by);
  const { configurationVersions } = await versions.batchGetConfigurationVersions({
    ids: [configurationVersionId, newId("cv"), ""],
  });
  const { readmes } = await createClient(
    WorkspaceReadmeService,
    channel,
    by,
  ).batchGetWorkspaceReadmes({ workspaceIds: [workspaceId, newId("ws")] });
  return {
    runs: runs.length,
    configurationVersions: configurationVersions.length,
    readmes: readmes.length,
  };
}

test("reports are shown to callers who may read the workspace", async () => {
  expect(await countReports(owner)).toEqual({ runs: 1, configurationVersions: 1, readmes: 1 });
  expect(await countReports(outsider)).toEqual({ runs: 0, configurationVersions: 0, readmes: 0 });
});

describe("access can request", () => {
  const place = (run: string, workspace: string) =>
    createClient(RunService, running.channel, running.identities.access).getRunPlacement({
      runId: run,
      workspaceId: workspace,
    });

  test("the organization of a run's workspace, even before the run is reported", async () => {
    const { organizationId } = await place(newId("run"), workspaceId);
    expect(organizationId).toMatch(/^org-/);
  });

  test("whether the run has ended, belongs to another workspace, or the workspace does not exist", async () => {
    expect(await failureOf(place(runId, workspaceId))).toMatchObject({ reason: "run_ended" });
    expect(await failureOf(place(runId, await newWorkspace()))).toMatchObject({
      reason: "run_of_other_workspace",
    });
    expect(await failureOf(place(runId, newId("ws")))).toMatchObject({ kind: "notFound" });
    expect(await failureOf(place("no id", workspaceId))).toMatchObject({ kind: "notFound" });
  });
});

test("state can request the workspace of a run, which is unknown until the run is reported", async () => {
  const runs = createClient(RunService, running.channel, running.identities.state);
  expect((await runs.getRunWorkspace({ runId })).workspaceId).toBe(workspaceId);
  expect((await runs.getRunWorkspace({ runId: newId("run") })).workspaceId).toBe("");
});

test("a run may read its own workspace until it has ended", async () => {
  const { channel, identities } = running;
  const consumers = createClient(RemoteStateConsumerService, channel, identities.state);
  const ask = async (run: string) =>
    (
      await consumers.mayReadAsConsumer({
        runId: run,
        consumerWorkspaceId: workspaceId,
        workspaceIds: [workspaceId, newId("ws"), "no id"],
      })
    ).workspaceIds;
  expect(await ask(newId("run"))).toEqual([workspaceId]);
  expect(await ask(runId)).toEqual([]);
});
