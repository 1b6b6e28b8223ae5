import { expect, test } from "vitest";
import { applyStateSummary } from "./domain.ts";

const nothing = {
  currentStateVersionId: null,
  resourceCount: 0,
  latestChangeAt: null,
  stateRevision: 0n,
};
const first = {
  currentStateVersionId: "sv-1",
  resourceCount: 4,
  latestChangeAt: new Date(1000),
  revision: 5n,
};

test("a newer summary is stored", () => {
  const workspace = { ...nothing };
  applyStateSummary(workspace, first);
  const { revision: stateRevision, ...summary } = first;
  expect(workspace).toEqual({ ...summary, stateRevision });
});

test("an older summary never replaces a newer one", () => {
  const workspace = { ...nothing };
  applyStateSummary(workspace, first);
  const kept = { ...workspace };
  applyStateSummary(workspace, { ...first, currentStateVersionId: "sv-0", revision: 4n });
  applyStateSummary(workspace, { ...first, resourceCount: 9, revision: 5n });
  expect(workspace).toEqual(kept);
});
