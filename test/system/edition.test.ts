import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { EDITION: "hosted", REMOTE_OPERATIONS: "true" } });

test("the hosted edition has its own name, attributes and headers", async () => {
  proves("Discovery/ping", "Workspace/assessments-enabled");
  const { owner, nobody, organization } = fixture();
  expect((await nobody.get("/ping")).headers.get("tfp-appname")).toBe("HCP Terraform");
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
