import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, useFixture } from "../system/fixture.ts";

const fixture = useFixture();

test("a list of versions has the first 100 resources of each, and their number", async () => {
  const { owner, organization } = fixture();
  const { id, attributes } = await newLockedWorkspace(fixture());
  const state = stateFile({ serial: 1, lineage: id, resources: 20_001 });
  const path = `/workspaces/${id}/state-versions`;
  const { body } = await owner.api.post(path, inlineState(state));
  const show = `/state-versions/${body.data.id}`;
  await waitFor(
    async () => (await owner.api.get(show)).body.data.attributes["resources-processed"],
  );
  const shown = (await owner.api.get(show)).body.data.attributes;
  expect(shown.resources).toHaveLength(20_000);
  expect(shown["resource-count"]).toBe(20_001);
  const query = `filter[workspace][name]=${attributes.name}&filter[organization][name]=${organization}`;
  const list = await owner.api.get(`/state-versions?${query}`);
  const [listed] = list.body.data;
  expect(listed.attributes.resources).toEqual(shown.resources.slice(0, 100));
  expect(listed.attributes["resource-count"]).toBe(20_001);
  const included = await owner.api.get(`/workspaces/${id}?include=current_state_version`);
  expect(included.body.included[0].attributes.resources).toHaveLength(100);
});
