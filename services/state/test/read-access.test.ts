import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { md5Of, type RunningState, runState } from "./running-state.ts";
import { outsider, owner, reader } from "./service-fakes.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

/** A run that the workspaces service does not know. It has no access, regardless of its grants. */
const run = { type: "run", id: "run-1", versions: "1" } as const;

/** Creates a current version with one output. */
async function written() {
  const workspaceId = state.lockedWorkspace();
  const created = await state.versions.createStateVersion({
    workspaceId,
    serial: 1n,
    md5: md5Of("x"),
    jsonStateOutputs: new TextEncoder().encode('{"o":{"value":1}}'),
  });
  await state.put(created.internalUploadPath, "x");
  return { workspaceId, id: created.stateVersion?.id ?? "" };
}

test.each([
  [owner, 2],
  [reader, 2],
  [outsider, 0],
  [run, 0],
])("a batch request returns the items that the caller may read: %o", async (who, expected) => {
  proves("Reading/the right to read");
  const made = [await written(), await written()];
  const ids = made.map(({ id }) => id);
  const workspaceIds = made.map(({ workspaceId }) => workspaceId);
  const as = state.as(who);
  const { versions, outputs } = state;
  const found = await Promise.all([
    versions.batchGetStateVersions({ ids }, as).then(({ stateVersions }) => stateVersions),
    outputs.batchListStateVersionOutputs({ stateVersionIds: ids }, as).then((of) => of.outputs),
    outputs.batchListCurrentOutputs({ workspaceIds }, as).then((of) => of.outputs),
  ]);
  expect(found.map(({ length }) => length)).toEqual([expected, expected, expected]);
});

test.each([
  [owner, "accepted"],
  [outsider, "notFound"],
  [run, "notFound"],
])("a single request as %o returns %s", async (who, expected) => {
  proves("Reading/the right to read");
  const { workspaceId, id } = await written();
  const as = state.as(who);
  const { versions, outputs } = state;
  const { outputs: listed } = await outputs.listCurrentOutputs({ workspaceId });
  const calls = [
    versions.getStateVersion({ id }, as),
    versions.getCurrentStateVersion({ workspaceId }, as),
    versions.listStateVersions({ workspaceId }, as),
    outputs.listStateVersionOutputs({ stateVersionId: id }, as),
    outputs.listCurrentOutputs({ workspaceId }, as),
    outputs.getStateVersionOutput({ id: listed[0]?.id ?? "" }, as),
  ];
  const received = calls.map((answer) =>
    answer.then(
      () => "accepted",
      ({ kind }: { kind: string }) => kind,
    ),
  );
  expect(await Promise.all(received)).toEqual(calls.map(() => expected));
});
