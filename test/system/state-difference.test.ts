import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Published, published } from "../stack/published.ts";
import {
  expectStatus,
  inlineState,
  processedVersion,
  rollbackTo,
  type StateFile,
  stateFile,
} from "../stack/state.ts";
import { newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();
let bus: Published;
beforeAll(() => {
  bus = published(fixture().stack.nats);
});
afterAll(() => bus[Symbol.asyncDispose]());

/** Creates a locked workspace; returns functions that write states to it and roll it back. */
async function history() {
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  await expectStatus(200, owner.api.post(`/workspaces/${id}/actions/lock`));
  const path = `/workspaces/${id}/state-versions`;
  const processed = async (versionId: string) => {
    await processedVersion(owner.api, versionId);
    const [event] = await waitFor(() => {
      const found = bus.about("stateVersionId", versionId, "state-version.processed.v1");
      return found.length > 0 && found;
    });
    const {
      revision: _,
      workspaceId: __,
      organizationId: ___,
      ...content
    } = JSON.parse(event?.json ?? "");
    return { versionId, content };
  };
  return {
    async write(state: StateFile) {
      const { body } = await expectStatus(201, owner.api.post(path, inlineState(state)));
      return processed(body.data.id);
    },
    async rollBack(to: string) {
      const { body } = await expectStatus(201, owner.api.patch(path, rollbackTo(to)));
      return processed(body.data.id);
    },
  };
}

const text = (value: string, sensitive = false) => ({ value, type: "string", sensitive });

test("a processed version names the outputs and counts the resources that differ from the version before", async () => {
  const { write, rollBack } = await history();
  const first = stateFile({
    resources: 3,
    outputs: {
      kept: text("a"),
      changed: text("b"),
      secret: text("hidden-1", true),
      gone: text("c"),
    },
  });
  const { lineage } = first;
  const one = await write(first);
  expect(one.content).toMatchObject({ serial: "1", lineage, resourceCount: 3, resourcesAdded: 3 });
  expect(one.content.comparedStateVersionId).toBeUndefined();
  expect(one.content.outputsAdded.map(({ name }: { name: string }) => name)).toEqual([
    ...["changed", "gone", "kept", "secret"],
  ]);
  const two = await write(
    stateFile({
      ...{ serial: 2, lineage, resources: 1 },
      outputs: {
        kept: text("a"),
        changed: text("B"),
        secret: text("hidden-2", true),
        new: text("d"),
      },
    }),
  );
  expect(two.content).toMatchObject({
    comparedStateVersionId: one.versionId,
    outputsAdded: [{ name: "new" }],
    outputsChanged: [{ name: "changed" }, { name: "secret", sensitive: true }],
    outputsRemoved: [{ name: "gone" }],
    resourcesChanged: 1,
    resourcesRemoved: 2,
  });
  for (const absent of ["incomparable", "resourcesAdded", "outputsTruncated"]) {
    expect(two.content, absent).not.toHaveProperty(absent);
  }
  expect(JSON.stringify([one, two])).not.toContain("hidden");
  const three = await rollBack(one.versionId);
  expect(three.content).toMatchObject({
    comparedStateVersionId: two.versionId,
    outputsAdded: [{ name: "gone" }],
    outputsChanged: [{ name: "changed" }, { name: "secret", sensitive: true }],
    outputsRemoved: [{ name: "new" }],
    resourcesAdded: 2,
    resourcesChanged: 1,
  });
});

test("versions that cannot be compared say why, and name no differences", async () => {
  const { write } = await history();
  const { stack } = fixture();
  const first = stateFile({ outputs: { a: text("1") } });
  const { lineage } = first;
  const state = (serial: number) =>
    stateFile({ serial, lineage, outputs: { a: text(`${serial}`) } });
  const one = await write(first);
  // Deletes the digests, as a permanent deletion of the contents does.
  await stack.rows("state", "delete from state_version_digests where state_version_id = $1", [
    one.versionId,
  ]);
  const two = await write(state(2));
  await stack.rows(
    "state",
    "update state_version_digests set key_id = 'previous' where state_version_id = $1",
    [two.versionId],
  );
  const three = await write(state(3));
  await stack.rows(
    "state",
    `update state_versions set extraction_error = 'the state is encrypted' where id = $1`,
    [three.versionId],
  );
  const four = await write(state(4));
  const five = await write(state(5));
  expect([two, three, four, five].map(({ content }) => content.incomparable)).toEqual([
    ...["previous-not-digested", "key-changed", "previous-unreadable", undefined],
  ]);
  for (const { content } of [two, three, four]) {
    expect(Object.keys(content).filter((name) => name.startsWith("outputs"))).toEqual([]);
  }
  expect(five.content.outputsChanged).toEqual([{ name: "a" }]);
});
