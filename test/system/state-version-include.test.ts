import { newId } from "@statehouse/postgres/ids";
import type { Runner } from "@statehouse/rpc/testing";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { organizationId, unusedName } from "../stack/organization.ts";
import { inlineState, processedVersion, stateFile } from "../stack/state.ts";
import {
  newLockedWorkspace,
  newWorkspace,
  recordedApi,
  useFixture,
  waysToVersion,
} from "./fixture.ts";

const fixture = useFixture();
let runner: Runner;
beforeAll(async () => {
  runner = (await fixture().stack.runnerCalls("runner")).reports;
});

const create = (id: string, body: unknown) =>
  fixture().owner.api.post(`/workspaces/${id}/state-versions`, body);

const processed = (versionId: string) => processedVersion(fixture().owner.api, versionId);

const waysTo = (workspace: { id: string; attributes: { name: string } }, versionId: string) =>
  waysToVersion(fixture(), workspace, versionId);

const sensitive = { value: "hunter2", type: "string", sensitive: true };
const outputs = { plain: { value: "a", type: "string" }, secret: sensitive };

const repository = { identifier: "acme/network", "oauth-token-id": "ot-1" };

test("show, list and current have the same includes: creator, run, its creator and configuration, outputs", async () => {
  proves(
    "State version/vcs-commit-sha, vcs-commit-url",
    "State version includes/created_by: the user or",
    "State version includes/run, run.created_by, run.configuration_version",
    "State version includes/outputs, sensitive values null",
  );
  const { owner } = fixture();
  const workspace = await newLockedWorkspace(fixture());
  await owner.api.patch(
    `/workspaces/${workspace.id}`,
    document("workspaces", { "vcs-repo": repository }),
  );
  const ingress = {
    id: newId("ia"),
    commitSha: "a".repeat(40),
    commitUrl: "https://git.example/c/1",
  };
  const configurationVersionId = await runner.configurationVersion({
    workspaceId: workspace.id,
    ingressAttributes: ingress,
  });
  const runId = await runner.run({
    workspaceId: workspace.id,
    configurationVersionId,
    createdByUserId: owner.id,
    status: "applied",
  });
  const { data } = inlineState(stateFile({ outputs }));
  const run = { data: { type: "runs", id: runId } };
  const created = await create(workspace.id, { data: { ...data, relationships: { run } } });
  await processed(created.body.data.id);
  const kinds: Record<string, string[]> = {
    created_by: ["users"],
    run: ["runs"],
    "run.created_by": ["runs", "users"],
    "run.configuration_version": ["configuration-versions", "runs"],
    outputs: ["state-version-outputs", "state-version-outputs"],
    "created_by,run,run.created_by,run.configuration_version,outputs": [
      "configuration-versions",
      "runs",
      "state-version-outputs",
      "state-version-outputs",
      "users",
    ],
  };
  for (const [way, path] of Object.entries(waysTo(workspace, created.body.data.id))) {
    for (const [include, types] of Object.entries(kinds)) {
      const body = await waitFor(async () => {
        const answer = await owner.api.get(`${path}include=${include}`);
        const found = answer.body.included?.map(({ type }: { type: string }) => type).toSorted();
        // The request is repeated, because the runner's reports can arrive in any order.
        return JSON.stringify(found) === JSON.stringify(types) && answer.body;
      });
      const version = way === "list" ? body.data[0] : body.data;
      expect(version.relationships.run.data, way).toEqual(run.data);
      expect(version.attributes).toMatchObject({
        "vcs-commit-sha": ingress.commitSha,
        "vcs-commit-url": ingress.commitUrl,
      });
      expect(JSON.stringify(body)).not.toContain("hunter2");
    }
  }
});

test("a version whose run has no repository has no commit", async () => {
  proves("State version/vcs-commit-sha, vcs-commit-url");
  const workspace = await newLockedWorkspace(fixture());
  const { body } = await create(workspace.id, inlineState(stateFile()));
  expect(body.data.attributes).toMatchObject({ "vcs-commit-sha": null, "vcs-commit-url": null });
});

test("a team that writes with its token is the creator and can be included", async () => {
  proves("State version includes/created_by: the user or");
  const { owner, organization, stack, url } = fixture();
  const team = await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: unusedName("writers"),
    members: [],
    organizationAccess: ["manage-workspaces"],
  });
  const made = await owner.api.post(`/teams/${team.id}/authentication-token`);
  const api = recordedApi(url, made.body.data.attributes.token);
  const { id } = await newWorkspace(fixture());
  await api.post(`/workspaces/${id}/actions/lock`);
  const created = await api.post(`/workspaces/${id}/state-versions`, inlineState(stateFile()));
  expect(created.status).toBe(201);
  const { body } = await owner.api.get(
    `/state-versions/${created.body.data.id}?include=created_by`,
  );
  expect(body.data.relationships["created-by"].data).toEqual({ type: "teams", id: team.id });
  expect(body.included).toMatchObject([{ type: "teams", id: team.id }]);
});

test("an organization token may read states and not write them", async () => {
  proves("State version creation rules/not with an organization's token");
  const { owner, organization, url } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const created = await create(id, inlineState(stateFile()));
  const made = await owner.api.post(`/organizations/${organization}/authentication-token`);
  const api = recordedApi(url, made.body.data.attributes.token);
  expect((await api.get(`/state-versions/${created.body.data.id}`)).status).toBe(200);
  const refused = await api.post(`/workspaces/${id}/state-versions`, inlineState(stateFile()));
  expect(refused.status).toBe(404);
});
