import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { inlineState, processedVersion, stateFile } from "../stack/state.ts";
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

test("a document includes the first 1,000 outputs, a list the first 100 of each, and their own list all", async () => {
  const { owner, organization } = fixture();
  const outputs = Object.fromEntries(
    Array.from({ length: 1001 }, (_, index) => [`output_${index}`, { value: "", type: "string" }]),
  );
  const { id, attributes } = await newLockedWorkspace(fixture());
  const path = `/workspaces/${id}/state-versions`;
  const versions: string[] = [];
  for (const serial of [1, 2]) {
    const { body } = await owner.api.post(
      path,
      inlineState(stateFile({ serial, lineage: id, outputs })),
    );
    versions.push(body.data.id);
    await processedVersion(owner.api, body.data.id);
  }
  const included = async (address: string) => (await owner.api.get(address)).body.included;
  expect(await included(`/state-versions/${versions[0]}?include=outputs`)).toHaveLength(1000);
  const query = `filter[workspace][name]=${attributes.name}&filter[organization][name]=${organization}`;
  expect(await included(`/state-versions?${query}&include=outputs`)).toHaveLength(200);
  expect(await included(`/workspaces/${id}?include=outputs`)).toHaveLength(1000);
  const all = await owner.api.get(`/workspaces/${id}/current-state-version-outputs`);
  expect(all.body.meta.pagination["total-count"]).toBe(1001);
});

test("modules longer than a mebibyte are omitted from the document of a version", async () => {
  const { owner, stack } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const state = stateFile({ lineage: id, resources: 1 });
  const { body } = await owner.api.post(`/workspaces/${id}/state-versions`, inlineState(state));
  await processedVersion(owner.api, body.data.id);
  await stack.rows(
    "state",
    "update state_versions set modules = jsonb_build_object('root', repeat('x', 1048577)) where id = $1",
    [body.data.id],
  );
  const { attributes } = (await owner.api.get(`/state-versions/${body.data.id}`)).body.data;
  expect(attributes.modules).toBeNull();
  expect(attributes.providers).not.toBeNull();
});
