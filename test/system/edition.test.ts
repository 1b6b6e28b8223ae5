import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { EDITION: "hosted", REMOTE_OPERATIONS: "true" } });

test("the hosted edition has its own name, attributes and headers", async () => {
  proves("Discovery/ping", "Workspace/assessments-enabled");
  const { owner, anonymous, organization } = fixture();
  expect((await anonymous.get("/ping")).headers.get("tfp-appname")).toBe("HCP Terraform");
  const workspace = await newWorkspace(fixture());
  expect(workspace.attributes["assessments-enabled"]).toBe(false);
  const entitlements = await owner.api.get(`/organizations/${organization}/entitlement-set`);
  expect(entitlements.body.data.attributes.operations).toBe(true);
  const retention = `/workspaces/${workspace.id}/relationships/data-retention-policy`;
  for (const path of [retention, "/admin/general-settings"]) {
    const answer = await owner.api.get(path);
    expect(answer.status).toBe(404);
    expect(answer.body.errors[0].detail).toBe("Not found.");
  }
  const { id } = await newLockedWorkspace(fixture());
  const created = await owner.api.post(
    `/workspaces/${id}/state-versions`,
    inlineState(stateFile()),
  );
  expect(Number(created.headers.get("x-terraform-snapshot-interval"))).toBeGreaterThan(0);
});

test("documents of the hosted edition have no relationship data-retention-policy", async () => {
  proves("Editions/data retention policies");
  const { owner, organization } = fixture();
  const workspace = await newWorkspace(fixture());
  expect(workspace.relationships).not.toHaveProperty("data-retention-policy");
  const shown = await owner.api.get(`/organizations/${organization}`);
  expect(shown.body.data.relationships).not.toHaveProperty("data-retention-policy");
});

test("assessments are disabled when a workspace stops being remote, and refused together with another mode", async () => {
  proves("Workspace/assessments-enabled");
  const { owner, organization } = fixture();
  const made = async () => {
    const remote = { "execution-mode": "remote", "assessments-enabled": true };
    return (await newWorkspace(fixture(), remote)).id as string;
  };
  const enabled = async (id: string, attributes: object = {}) => {
    const { status, body } = await owner.api.patch(
      `/workspaces/${id}`,
      document("workspaces", { ...attributes }),
    );
    return status === 200 ? body.data.attributes["assessments-enabled"] : status;
  };
  const changed = await made();
  expect(await enabled(changed)).toBe(true);
  expect(await enabled(changed, { "execution-mode": "local" })).toBe(false);
  expect(await enabled(changed, { "execution-mode": "remote" })).toBe(false);
  const both = { "execution-mode": "local", "assessments-enabled": true };
  expect(await enabled(changed, both)).toBe(422);

  // Assessments are also disabled when a workspace inherits the organization's mode because its own mode is removed.
  const inheriting = await made();
  const inherits = { "setting-overwrites": { "execution-mode": false } };
  expect(await enabled(inheriting, inherits)).toBe(false);
  const setDefault = (mode: string) =>
    owner.api.patch(
      `/organizations/${organization}`,
      document("organizations", { "default-execution-mode": mode }),
    );
  await setDefault("remote");
  expect(await enabled(inheriting, { "assessments-enabled": true })).toBe(true);
  await setDefault("local");
  const { body } = await owner.api.get(`/workspaces/${inheriting}`);
  expect(body.data.attributes["assessments-enabled"]).toBe(false);
});

test("entitlement sets name private-vcs and private-policy-agents", async () => {
  const { owner, organization } = fixture();
  const { body } = await owner.api.get(`/organizations/${organization}/entitlement-set`);
  expect(body.data.attributes).toMatchObject({
    "private-vcs": false,
    "private-policy-agents": false,
  });
});
