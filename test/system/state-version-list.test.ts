import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { expectStatus, processedVersion, stateFile, writeState } from "../stack/state.ts";
import { newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

const LISTED = 100;

test("a list shows the document of each version, with at most 100 resources", async () => {
  proves("Reading/page[number], page[size]");
  const { owner, organization } = fixture();
  const { id, attributes } = await newWorkspace(fixture());
  const { lineage } = stateFile();
  const ids: string[] = [];
  for (const [index, resources] of [2, LISTED, LISTED + 50].entries()) {
    const state = stateFile({ serial: index + 1, lineage, resources });
    const { body } = await expectStatus(201, writeState(owner.api, id, state));
    await processedVersion(owner.api, body.data.id);
    ids.unshift(body.data.id);
  }
  const filter = `filter[organization][name]=${organization}&filter[workspace][name]=${attributes.name}`;
  const list = async (more = "") =>
    (await expectStatus(200, owner.api.get(`/state-versions?${filter}${more}`))).body.data;

  const expected = await Promise.all(
    ids.map(async (version) => {
      const { data } = (await owner.api.get(`/state-versions/${version}`)).body;
      const { resources } = data.attributes;
      if (resources.length <= LISTED) return data;
      const shown = { resources: resources.slice(0, LISTED), "resource-count": resources.length };
      return { ...data, attributes: { ...data.attributes, ...shown } };
    }),
  );
  expect(expected.map(({ attributes }) => attributes.resources.length)).toEqual([100, 100, 2]);
  expect(await list()).toEqual(expected);
  // Each document must refer to the preceding and the following version even if the response does not contain them,
  // as on a page with only one version. With a filter, they can be missing as well.
  for (const [index, version] of expected.entries()) {
    expect(await list(`&page[size]=1&page[number]=${index + 1}`)).toEqual([version]);
  }
  expect(await list("&filter[status]=finalized")).toEqual(expected);
});
