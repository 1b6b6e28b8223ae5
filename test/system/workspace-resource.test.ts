import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { stateFile, writeState } from "../stack/state.ts";
import { newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

const resources = (id: string, query = "") => `/workspaces/${id}/resources${query}`;

async function written(count: number) {
  const { owner, readable } = fixture();
  const workspace = await newWorkspace(fixture(), {}, readable.id);
  const { body } = await writeState(owner.api, workspace.id, stateFile({ resources: count }));
  const listed = await waitFor(async () => {
    const answer = await owner.api.get(resources(workspace.id));
    return answer.body.meta.pagination["total-count"] === count && answer;
  });
  return { id: workspace.id as string, versionId: body.data.id as string, listed };
}

const addresses = (data: { attributes: { address: string } }[]) =>
  data.map(({ attributes }) => attributes.address);

test("the resources of the current state are listed with every attribute", async () => {
  proves("Workspace resources/GET /workspaces/:id/resources");
  const { reader } = fixture();
  const { id, versionId, listed } = await written(2);
  expect(listed.status).toBe(200);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(listed.body.data).toEqual(
    ["resource_0", "resource_1"].map((name) => ({
      id: expect.stringMatching(/^wsr-[A-Za-z0-9]{16}$/),
      type: "resources",
      attributes: {
        address: `terraform_data.${name}`,
        name,
        "created-at": time,
        "updated-at": time,
        module: "root",
        provider: "builtin/terraform",
        "provider-type": "terraform_data",
        "modified-by-state-version-id": versionId,
        "name-index": null,
      },
    })),
  );
  expect((await reader.api.get(resources(id))).body.data).toEqual(listed.body.data);
});

test("the list has pages, is sorted by address by default, and can be searched by address", async () => {
  proves("Workspace resources/GET /workspaces/:id/resources");
  const { owner } = fixture();
  const { id } = await written(25);
  const first = await owner.api.get(resources(id));
  expect(first.body.data).toHaveLength(20);
  const second = await owner.api.get(resources(id, "?page[number]=2"));
  expect(second.body.data).toHaveLength(5);
  expect(second.body.meta.pagination).toMatchObject({ "total-pages": 2, "total-count": 25 });
  const all = addresses([...first.body.data, ...second.body.data]);
  expect(all).toEqual(all.toSorted());
  const falling = await owner.api.get(resources(id, "?sort=name:desc&page[size]=100"));
  expect(addresses(falling.body.data)).toEqual(all.toReversed());
  for (const sort of ["name:sideways", "digest:asc", "'"]) {
    const answer = await owner.api.get(resources(id, `?sort=${sort}&page[size]=100`));
    expect(addresses(answer.body.data)).toEqual(all);
  }
  const found = await owner.api.get(resources(id, "?q=_1"));
  expect(addresses(found.body.data)).toEqual(all.filter((address) => address.includes("_1")));
  expect((await owner.api.get(resources(id, "?page[size]=0"))).status).toBe(400);
});

test("a workspace without state has no resources; a foreign one is not found", async () => {
  proves("Workspace resources/GET /workspaces/:id/resources");
  const { owner, outsider } = fixture();
  const { id } = await newWorkspace(fixture());
  const { status, body } = await owner.api.get(resources(id));
  expect([status, body.data, body.meta.pagination["total-count"]]).toEqual([200, [], 0]);
  expect((await outsider.api.get(resources(id))).status).toBe(404);
  expect((await owner.api.get(resources("ws-0000000000000000"))).status).toBe(404);
});
