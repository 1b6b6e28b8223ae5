import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

/** Creates an organization that no other test changes. */
const fresh = async () => {
  const organization = await newOrganization(fixture().owner.api);
  return { organization, path: `/organizations/${organization}` };
};
const input = (attributes: Record<string, unknown>, relationships?: Record<string, unknown>) =>
  document("organizations", attributes, relationships);

const settings = {
  email: "other@example.com",
  "default-execution-mode": "remote",
  "allow-force-delete-workspaces": true,
  "assessments-enforced": true,
  "collaborator-auth-policy": "two_factor_mandatory",
  "cost-estimation-enabled": true,
  "send-passing-statuses-for-untriggered-speculative-plans": true,
  "aggregated-commit-status-enabled": false,
  "speculative-plan-management-enabled": false,
  "max-ttl-enabled": true,
  "session-timeout": 60,
  "session-remember": 120,
  "owners-team-saml-role-id": "owners",
};

test("every setting can be given on creation and changed, and keeps its value if absent", async () => {
  proves(
    "Versioning/2024-10-14",
    "Versioning/2024-01-04",
    "Organizations/list (q), create, show, update, delete",
    "Organizations/assessments-enforced, collaborator-auth-policy, speculative-plan-management-enabled, aggregated-commit-status-enabled",
  );
  const { api } = fixture().owner;
  const name = unusedName("org");
  const created = await api.post("/organizations", input({ name, ...settings }));
  expect(created.status).toBe(201);
  expect(created.body.data.attributes).toMatchObject(settings);

  const { path } = await fresh();
  const changed = await api.patch(path, input(settings));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toMatchObject(settings);
  const kept = await api.patch(path, input({}));
  expect(kept.body.data.attributes).toMatchObject(settings);
  expect((await api.get(path)).body).toEqual(kept.body);
});

test("stacks are shown as disabled, and cannot be enabled", async () => {
  proves("Organizations/stacks-enabled");
  const { api } = fixture().owner;
  const { path } = await fresh();
  expect((await api.get(path)).body.data.attributes["stacks-enabled"]).toBe(false);
  expect((await api.patch(path, input({ "stacks-enabled": false }))).status).toBe(200);
  const refused = await api.patch(path, input({ "stacks-enabled": true }));
  expect(refused.status).toBe(422);
  expect(problems(refused)).toEqual({
    "/data/attributes/stacks-enabled": expect.stringContaining("false"),
  });
});

test("a rename frees the old name and takes the new one", async () => {
  proves("Organizations/names");
  const { api } = fixture().owner;
  const { organization, path } = await fresh();
  const name = unusedName("renamed");
  const renamed = await api.patch(path, input({ name }));
  expect(renamed.body.data).toMatchObject({ id: name, attributes: { name } });
  expect((await api.get(path)).status).toBe(404);
  expect((await api.get(`/organizations/${name}`)).status).toBe(200);
  await newOrganization(fixture().outsider.api, organization);
  const taken = await api.patch(`/organizations/${name}`, input({ name: organization }));
  expect(taken.status).toBe(422);
  expect(problems(taken)).toEqual({ "/data/attributes/name": "Name has already been taken" });
});

test("all problems are reported, and nothing is changed", async () => {
  const { api } = fixture().owner;
  const { path } = await fresh();
  const before = await api.get(path);
  const answer = await api.patch(
    path,
    input({
      name: "a b",
      email: "nowhere",
      "collaborator-auth-policy": "none",
      "session-timeout": 0,
      "default-execution-mode": "cloud",
      "allow-force-delete-workspaces": true,
    }),
  );
  expect(answer.status).toBe(422);
  expect(problems(answer)).toEqual({
    "/data/attributes/name": "Name is invalid",
    "/data/attributes/email": "Email is invalid",
    "/data/attributes/collaborator-auth-policy": "Collaborator auth policy is invalid",
    "/data/attributes/session-timeout": "Session timeout must be above 0",
    "/data/attributes/default-execution-mode": "Default execution mode is invalid",
  });
  expect((await api.get(path)).body).toEqual(before.body);
  // Invalid values are combined with values of wrong types.
  const wrong = { name: "a b", email: 3, "session-timeout": "1", "cost-estimation-enabled": true };
  const expected = {
    "/data/attributes/name": "Name is invalid",
    "/data/attributes/email": "Email must be a string",
    "/data/attributes/session-timeout": "Session timeout must be a number",
  };
  expect(problems(await api.patch(path, input(wrong)))).toEqual(expected);
  expect(problems(await api.post("/organizations", input(wrong)))).toEqual(expected);
  expect((await api.get(path)).body).toEqual(before.body);
});

test("workspaces inherit the default mode and its pool; leaving the mode agent clears the pool", async () => {
  proves("Versioning/2023-09-08", "Organizations/default-execution-mode and default agent");
  const { owner } = fixture();
  const { organization, path } = await fresh();
  const workspace = await newWorkspace({ organization, owner });
  const shown = async () => (await owner.api.get(`/workspaces/${workspace.id}`)).body.data;
  const without = await owner.api.patch(path, input({ "default-execution-mode": "agent" }));
  expect(problems(without)).toEqual({
    "/data/relationships/default-agent-pool": "must be specified when using 'agent' execution mode",
  });
  const pool = await owner.api.post(`${path}/agent-pools`, document("agent-pools", { name: "a" }));
  const linkage = { data: { type: "agent-pools", id: pool.body.data.id } };
  const agent = await owner.api.patch(
    path,
    input({ "default-execution-mode": "agent" }, { "default-agent-pool": linkage }),
  );
  expect(agent.body.data.relationships["default-agent-pool"]).toEqual(linkage);
  expect(await shown()).toMatchObject({
    attributes: { "execution-mode": "agent", operations: true },
    relationships: { "agent-pool": linkage },
  });
  const remote = await owner.api.patch(path, input({ "default-execution-mode": "remote" }));
  expect(remote.body.data.relationships["default-agent-pool"]).toEqual({ data: null });
  expect((await shown()).relationships["agent-pool"]).toEqual({ data: null });
  const named = { "default-execution-mode": "agent", "default-agent-pool-id": pool.body.data.id };
  const again = await owner.api.patch(path, input(named));
  expect(again.body.data.relationships["default-agent-pool"]).toEqual(linkage);
  await owner.api.patch(path, input({ "default-execution-mode": "local" }));
  const outside = await owner.api.patch(path, input({}, { "default-agent-pool": linkage }));
  expect(problems(outside)).toEqual({
    "/data/relationships/default-agent-pool":
      "must not be specified unless using 'agent' execution mode",
  });
});

test("callers without the right get not found, and a deletion includes all contents", async () => {
  const { owner, reader, outsider, organization: shared } = fixture();
  for (const { api } of [reader, outsider]) {
    expect((await api.patch(`/organizations/${shared}`, input({}))).status).toBe(404);
    expect((await api.delete(`/organizations/${shared}`)).status).toBe(404);
  }
  const { organization, path } = await fresh();
  const workspace = await newWorkspace({ organization, owner });
  expect((await owner.api.delete(path)).status).toBe(204);
  expect((await owner.api.get(path)).status).toBe(404);
  expect((await owner.api.delete(path)).status).toBe(404);
  expect((await owner.api.get(`/workspaces/${workspace.id}`)).status).toBe(404);
  expect((await owner.api.get(`/workspaces/${workspace.id}/current-state-version`)).status).toBe(
    404,
  );
  const list = (await owner.api.get("/organizations")).body.data;
  expect(list.map(({ id }: { id: string }) => id)).not.toContain(organization);
  await newOrganization(outsider.api, organization);
  expect((await owner.api.get(path)).status).toBe(404);
});
