import { newId } from "@statehouse/postgres/ids";
import { expect, test } from "vitest";
import { newWorkspace, useFixture } from "../system/fixture.ts";

// Attack: a runner with its own key reports, locks and creates tokens for the run of another runner.

const fixture = useFixture();

test("a run belongs to the runner that reported it first", async () => {
  const { stack, owner } = fixture();
  const { id: workspaceId } = await newWorkspace(fixture());
  const [first, other] = [
    await stack.runnerCalls("runner"),
    await stack.runnerCalls("runner-other"),
  ];
  const runId = await first.reports.run({ workspaceId, status: "applying" });
  const { secret } = await first.tokens.createRunToken({ runId, workspaceId });
  const refused = { kind: "conflict", reason: "reported_by_other" };
  const ended = { workspaceId, runId, revision: 9n, status: "errored" };
  await expect(other.reports.run(ended)).rejects.toMatchObject(refused);
  const lock = { runId, workspaceId, reason: "mine" };
  await expect(other.locks.lockAsRun(lock)).rejects.toMatchObject(refused);
  await first.locks.lockAsRun(lock);
  await expect(other.locks.unlockAsRun(lock)).rejects.toMatchObject(refused);
  const token = other.tokens.createRunToken({ runId, workspaceId });
  await expect(token).rejects.toMatchObject({ reason: "run_of_other" });

  const { body } = await owner.api.get(`/workspaces/${workspaceId}?include=current_run`);
  expect(body.included[0]).toMatchObject({ id: runId, attributes: { status: "applying" } });
  expect(body.data.attributes.locked).toBe(true);
  const asRun = await fetch(`${stack.url}/api/v2/workspaces/${workspaceId}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(asRun.status).toBe(200);
  await first.reports.run(ended);
});

test("a configuration version belongs to the runner that reported it first", async () => {
  const { stack } = fixture();
  const { id: workspaceId } = await newWorkspace(fixture());
  const [first, other] = [
    await stack.runnerCalls("runner"),
    await stack.runnerCalls("runner-other"),
  ];
  const configurationVersionId = newId("cv");
  await first.reports.configurationVersion({ workspaceId, configurationVersionId });
  const report = { workspaceId, configurationVersionId, revision: 2n, error: "mine" };
  await expect(other.reports.configurationVersion(report)).rejects.toMatchObject({
    reason: "reported_by_other",
  });
  await first.reports.configurationVersion(report);
});

test("one of two concurrent first reports of a run by two runners is stored", async () => {
  const { stack } = fixture();
  const [one, two] = [await newWorkspace(fixture()), await newWorkspace(fixture())];
  const [first, other] = [
    await stack.runnerCalls("runner"),
    await stack.runnerCalls("runner-other"),
  ];
  const runId = newId("run");
  const outcomes = await Promise.allSettled([
    first.reports.run({ runId, workspaceId: one.id }),
    other.reports.run({ runId, workspaceId: two.id }),
  ]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});
