import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { newId } from "@statehouse/postgres/ids";
import { type Runner, timestampAt } from "@statehouse/rpc/testing";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { costOf } from "../stack/request-cost.ts";
import { inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, newProject, newWorkspace, useFixture } from "./fixture.ts";

const run = promisify(execFile);
const fixture = useFixture();
let runner: Runner;
beforeAll(async () => {
  runner = (await fixture().stack.runnerCalls("runner")).reports;
});

const show = async (id: string, include = "") =>
  (await fixture().owner.api.get(`/workspaces/${id}${include && `?include=${include}`}`)).body;

/** Waits until a run with this status is the workspace's current run; returns the workspace. */
const once = (id: string, runId: string, status: string, include = "current_run") =>
  waitFor(async () => {
    const body = await show(id, include);
    const run = body.included?.find(({ type }: { type: string }) => type === "runs");
    return run?.id === runId && run.attributes.status === status && body;
  });

const commit = {
  id: "ia-1234567890abcdef",
  branch: "main",
  commitSha: "1111111111111111111111111111111111111111",
  commitUrl: "https://git.example.com/c/1",
  commitMessage: "Widen the network",
  identifier: "acme/network",
  onDefaultBranch: true,
};

const kinds = ({ included }: { included: { type: string; id: string }[] }) =>
  included.map(({ type }) => type).toSorted();

describe("a workspace with runs of a runner", () => {
  test("has no runs before the first report", async () => {
    const { id } = await newWorkspace(fixture());
    const { data, included } = await show(
      id,
      "current_run.plan,readme,current_configuration_version",
    );
    expect(included).toEqual([]);
    expect(data.relationships["current-run"].data).toBeNull();
    expect(data.relationships["latest-run"].data).toBeNull();
    expect(data.relationships.readme.data).toBeNull();
    expect(data.attributes["workspace-kpis-runs-count"]).toBeNull();
  });

  test("includes the run, its plan, its configuration and its commit on request", async () => {
    proves("Workspace includes/current_run, its configuration_version, the");
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const configurationVersionId = await runner.configurationVersion({
      workspaceId: id,
      source: "github",
      ingressAttributes: commit,
    });
    const runId = await runner.run({
      workspaceId: id,
      status: "planning",
      message: "Widen the network",
      createdByUserId: owner.id,
      configurationVersionId,
      statusTimestamps: { "planning-at": timestampAt(7) },
      plan: { id: "plan-1234567890abcdef", status: "running", startedAt: timestampAt(7) },
    });
    const names = [
      "current_run.plan",
      "current_run.configuration_version.ingress_attributes",
      "current_configuration_version.ingress_attributes",
    ];
    const body = await once(id, runId, "planning", names.join());
    expect(kinds(body)).toEqual(["configuration-versions", "ingress-attributes", "plans", "runs"]);
    const of = (type: string) => body.included.find((one: { type: string }) => one.type === type);
    expect(of("runs")).toMatchObject({
      attributes: {
        message: "Widen the network",
        "created-at": "2026-01-01T00:00:00.000Z",
        "status-timestamps": { "planning-at": "2026-01-01T00:00:07.000Z" },
      },
      relationships: {
        workspace: { data: { type: "workspaces", id } },
        "created-by": { data: { type: "users", id: owner.id } },
        "configuration-version": { data: { id: configurationVersionId } },
        plan: { data: { type: "plans", id: "plan-1234567890abcdef" } },
      },
    });
    expect(of("plans").attributes).toMatchObject({ status: "running" });
    expect(of("ingress-attributes").attributes).toMatchObject({
      "commit-sha": commit.commitSha,
      "commit-message": "Widen the network",
      tag: null,
    });
    expect(body.data.relationships["current-configuration-version"].data.id).toBe(
      configurationVersionId,
    );
    expect((await show(id)).included).toBeUndefined();
  });

  test("has performance of errored and applied runs, regardless of order and repeats of reports", async () => {
    proves(
      "Workspace run attributes/apply-duration-average, plan-duration-average, policy-check-failures, run-failures",
    );
    const { id } = await newWorkspace(fixture());
    const finished = (plan: bigint, apply?: bigint) => ({
      plan: { id: newId("plan"), status: "finished", durationMs: plan },
      ...(apply === undefined
        ? {}
        : { apply: { id: newId("apply"), status: "finished", durationMs: apply } }),
    });
    const applied = { workspaceId: id, runId: newId("run"), createdAt: timestampAt(1) };
    await runner.run({ ...applied, revision: 9n, status: "applied", ...finished(1000n, 4000n) });
    await runner.run({ ...applied, revision: 9n, status: "applied", ...finished(1000n, 4000n) });
    await runner.run({ ...applied, revision: 3n, status: "planning" });
    await runner.run({
      workspaceId: id,
      createdAt: timestampAt(2),
      status: "discarded",
      ...finished(9n),
    });
    const last = await runner.run({
      workspaceId: id,
      createdAt: timestampAt(3),
      status: "errored",
      policyCheckFailed: true,
      ...finished(2000n),
    });
    const { data } = await once(id, last, "errored");
    expect(data.attributes).toMatchObject({
      "plan-duration-average": 1500,
      "apply-duration-average": 4000,
      "policy-check-failures": 1,
      "run-failures": 1,
      "workspace-kpis-run-count": 2,
      "workspace-kpis-runs-count": 2,
    });
  });

  test("keeps its current run while plan-only runs are reported and runs wait", async () => {
    const { id } = await newWorkspace(fixture());
    const current = await runner.run({
      workspaceId: id,
      status: "applying",
      createdAt: timestampAt(1),
    });
    await runner.run({ workspaceId: id, status: "pending", createdAt: timestampAt(2) });
    const latest = await runner.run({ workspaceId: id, planOnly: true, createdAt: timestampAt(3) });
    await waitFor(async () => {
      const { data } = await show(id);
      return data.relationships["latest-run"].data?.id === latest;
    });
    expect((await show(id)).data.relationships["current-run"].data.id).toBe(current);
  });

  test("shows the most recent readme, and none after its removal", async () => {
    proves("Workspace includes/readme");
    const { id } = await newWorkspace(fixture());
    await runner.readme({ workspaceId: id, rawMarkdown: "# Network", revision: 2n });
    await runner.readme({ workspaceId: id, rawMarkdown: "# Old", revision: 1n });
    const body = await waitFor(async () => {
      const shown = await show(id, "readme");
      return shown.included.length > 0 && shown;
    });
    expect(body.included).toEqual([
      { id, type: "workspace-readme", attributes: { "raw-markdown": "# Network" } },
    ]);
    await runner.readme({ workspaceId: id, rawMarkdown: "", revision: 3n });
    await waitFor(async () => (await show(id, "readme")).included.length === 0);
  });

  test("is deleted with all its reports", async () => {
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const runId = await runner.run({ workspaceId: id, status: "applied" });
    await runner.readme({ workspaceId: id, rawMarkdown: "# Gone" });
    await once(id, runId, "applied");
    expect((await owner.api.delete(`/workspaces/${id}`)).status).toBe(204);
    const late = runner.run({ workspaceId: id, runId, revision: 2n, status: "errored" });
    await expect(late).rejects.toMatchObject({ kind: "notFound" });
    const other = await newWorkspace(fixture());
    await once(other.id, await runner.run({ workspaceId: other.id, status: "applied" }), "applied");
  });

  test("loads the runs of a complete list in one call", async () => {
    const { owner, organization } = fixture();
    const { id: projectId } = await newProject(fixture());
    for (let made = 0; made < 4; made++) {
      const { id } = await newWorkspace(fixture(), {}, projectId);
      const configurationVersionId = await runner.configurationVersion({ workspaceId: id });
      const plan = { id: newId("plan"), status: "finished" };
      const runId = await runner.run({
        workspaceId: id,
        status: "applied",
        configurationVersionId,
        plan,
      });
      await once(id, runId, "applied");
    }
    const names =
      "current_run.plan,current_run.configuration_version,current_configuration_version";
    const list = `/organizations/${organization}/workspaces?filter[project][id]=${projectId}`;
    const { body } = await owner.api.get(`${list}&include=${names}`);
    expect(kinds(body)).toHaveLength(12);
    const plain = await costOf(() => owner.api.get(list));
    const included = await costOf(() => owner.api.get(`${list}&include=${names}`));
    // Each of these needs one call and one statement: runs, their configuration versions, and the workspaces' current
    // configuration versions.
    expect(included.calls - plain.calls).toBe(3);
    expect(included.statements - plain.statements).toBe(3);
  });
});

describe("a state version with a run", () => {
  test("shows the run, its user and its commit once it is reported", async () => {
    proves(
      "Real clients/10",
      "State version/vcs-commit-sha, vcs-commit-url",
      "State version includes/run, run.created_by, run.configuration_version",
    );
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const connect = (repository: object | null) =>
      owner.api.patch(`/workspaces/${id}`, document("workspaces", { "vcs-repo": repository }));
    await connect({ identifier: "acme/network", "oauth-token-id": "ot-1" });
    const runId = newId("run");
    const state = inlineState(stateFile());
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, {
      data: {
        ...state.data,
        relationships: { run: { data: { type: "runs", id: runId } } },
      },
    });
    expect(created.status).toBe(201);
    expect(created.body.data.relationships.run.data).toBeNull();
    expect(created.body.data.attributes["vcs-commit-sha"]).toBeNull();

    const configurationVersionId = await runner.configurationVersion({
      workspaceId: id,
      ingressAttributes: commit,
    });
    const report = { workspaceId: id, runId, configurationVersionId, createdByUserId: owner.id };
    await runner.run({ ...report, status: "applied" });
    await once(id, runId, "applied");
    const path = `/state-versions/${created.body.data.id}`;
    const { body } = await owner.api.get(
      `${path}?include=run.created_by,run.configuration_version`,
    );
    expect(body.data.relationships.run.data).toEqual({ type: "runs", id: runId });
    expect(body.data.attributes).toMatchObject({
      "vcs-commit-sha": commit.commitSha,
      "vcs-commit-url": commit.commitUrl,
    });
    expect(kinds(body)).toEqual(["configuration-versions", "runs", "users"]);
    const current = await owner.api.get(`/workspaces/${id}/current-state-version?include=run`);
    expect(kinds(current.body)).toEqual(["runs"]);

    expect((await connect(null)).status).toBe(200);
    const disconnected = await owner.api.get(path);
    expect(disconnected.body.data.relationships.run.data).toEqual({ type: "runs", id: runId });
    expect(disconnected.body.data.attributes).toMatchObject({
      "vcs-commit-sha": null,
      "vcs-commit-url": null,
    });
  });

  test("does not show a run that belongs to another workspace", async () => {
    proves("State version creation/relationships.run");
    const { owner } = fixture();
    const [{ id }, other] = [await newLockedWorkspace(fixture()), await newWorkspace(fixture())];
    const runId = newId("run");
    const { data } = inlineState(stateFile());
    const relationships = { run: { data: { type: "runs", id: runId } } };
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, {
      data: { ...data, relationships },
    });
    expect(created.status).toBe(201);
    const configurationVersionId = await runner.configurationVersion({
      workspaceId: other.id,
      ingressAttributes: commit,
    });
    await runner.run({ workspaceId: other.id, runId, configurationVersionId, status: "applied" });
    await once(other.id, runId, "applied");
    const { body } = await owner.api.get(`/state-versions/${created.body.data.id}?include=run`);
    expect(body.data.relationships.run.data).toBeNull();
    expect(body.data.attributes["vcs-commit-sha"]).toBeNull();
    expect(body.included ?? []).toEqual([]);
  });
});

test("the example runner reports all of it", async () => {
  const { stack, owner } = fixture();
  const { id } = await newWorkspace(fixture());
  const example = path.join(import.meta.dirname, "../../examples/runner/report.mjs");
  const environment = {
    WORKSPACE_ID: id,
    WORKSPACES_ADDRESS: await stack.runnerAddress(),
    ASSERTION_PRIVATE_KEY: stack.runnerKey("runner"),
    USER_ID: owner.id,
    GRPC_TLS: "off",
  };
  const { stdout } = await run(process.execPath, [example], { env: environment });
  const include = "current_run.plan,readme,current_configuration_version.ingress_attributes";
  const body = await once(id, stdout.trim(), "applied", include);
  expect(kinds(body)).toEqual([
    "configuration-versions",
    "ingress-attributes",
    "plans",
    "runs",
    "workspace-readme",
  ]);
  expect(body.data.attributes).toMatchObject({
    "plan-duration-average": 4200,
    "apply-duration-average": 15300,
    "run-failures": 0,
  });
});

test("an invalid report is refused immediately, with the field", async () => {
  const { id } = await newWorkspace(fixture());
  const fieldsOf = (report: Promise<unknown>) =>
    report.then(
      () => "accepted",
      ({ fields }: { fields: { field: string; detail: string }[] }) =>
        fields.map(({ field, detail }) => `${field}: ${detail}`),
    );
  expect(await fieldsOf(runner.run({ workspaceId: id, status: "levitating" }))).toEqual([
    expect.stringMatching(
      /^report.status: Status 'levitating' is unknown; expected one of pending,/,
    ),
  ]);
  expect(await fieldsOf(runner.run({ workspaceId: id, runId: "1" }))).toEqual([
    "report.runId: Run ID is invalid; expected run- and 16 letters and digits",
  ]);
  expect(await fieldsOf(runner.run({ workspaceId: id, message: "a\0b" }))).toEqual([
    "report: Report contains the character U+0000, which cannot be stored",
  ]);
  const readme = { workspaceId: id, rawMarkdown: "x".repeat(1_048_577) };
  expect(await fieldsOf(runner.readme(readme))).toEqual([
    "report.rawMarkdown: Raw markdown is too long (maximum is 1048576 bytes)",
  ]);
  const runId = await runner.run({ workspaceId: id, status: "applied" });
  await once(id, runId, "applied");
});
