import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { inlineState, md5Of, processedVersion, stateFile } from "../stack/state.ts";
import { type ApiUser, newLockedWorkspace, newTeam, newUser, useFixture } from "./fixture.ts";

const fixture = useFixture();

/** Returns a state with two billable instances and some instances that are not billable. */
function billedState() {
  const { bytes, ...state } = stateFile({ resources: 3 });
  const file = JSON.parse(bytes.toString());
  const provider = 'provider["registry.terraform.io/hashicorp/aws"]';
  const billed = { type: "aws_instance", name: "web", provider, instances: [{}, {}] };
  file.resources.push(
    { ...billed, mode: "managed" },
    { ...billed, mode: "data" },
    { ...billed, mode: "managed", type: "null_resource" },
  );
  const content = Buffer.from(JSON.stringify(file));
  return { ...state, bytes: content, md5: md5Of(content) };
}

test("owners see the number of billed resources if the plan bills by usage", async () => {
  proves("State version/billable-rum-count");
  const { owner, organization, stack } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const created = await owner.api.post(
    `/workspaces/${id}/state-versions`,
    inlineState(billedState()),
  );
  const path = `/state-versions/${created.body.data.id}`;
  const shownTo = async ({ api }: Pick<ApiUser, "api">, at = path) => {
    const { status, body } = await api.get(at);
    expect(status).toBe(200);
    return body.data.attributes;
  };
  const { attributes: read } = await processedVersion(owner.api, created.body.data.id);
  expect(read["billable-rum-count"]).toBe(2);
  const current = await shownTo(owner, `/workspaces/${id}/current-state-version`);
  expect(current["billable-rum-count"]).toBe(2);

  const { member } = await newTeam(fixture(), ["manage-workspaces"]);
  expect(await shownTo(member)).not.toHaveProperty("billable-rum-count");

  const administrator = await newUser(stack, { administrator: true });
  const setPlan = (plan: string) =>
    administrator.api.patch(
      `/admin/organizations/${organization}`,
      document("organizations", { "plan-identifier": plan }),
    );
  expect((await setPlan("free")).status).toBe(200);
  await waitFor(async () => !("billable-rum-count" in (await shownTo(owner))));
  expect((await setPlan("standard")).status).toBe(200);
  await waitFor(async () => (await shownTo(owner))["billable-rum-count"] === 2);
});

test("the number of billed resources is unknown before extraction and for an unreadable state", async () => {
  proves("State version/billable-rum-count");
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const bytes = Buffer.from('{"serial":1,"encrypted_data":"Zm9v"}');
  const state = { serial: 1, lineage: "", bytes, md5: md5Of(bytes) };
  const created = await owner.api.post(`/workspaces/${id}/state-versions`, inlineState(state));
  expect(created.body.data.attributes["billable-rum-count"]).toBeNull();
  const { attributes: read } = await processedVersion(owner.api, created.body.data.id);
  expect(read["billable-rum-count"]).toBeNull();
});
