import { expect, test } from "vitest";
import { differences, type OwnRecord, type StateRecord } from "./domain.ts";

const placement = { workspaceId: "ws-1", organizationId: "org-1", projectId: "prj-1" } as const;
const here: OwnRecord = {
  deleted: false,
  placement: { ...placement, version: 5n },
  stateRevision: 7n,
};
const deleted: OwnRecord = { deleted: true };

const now = new Date("2026-01-02T03:04:05Z");
/** The revision of a change two hours after `now`. */
const future = BigInt(now.getTime() + 7_200_000) * 1000n;

const there = (changes: { revision?: bigint; placementVersion?: bigint; dropped?: boolean }) => {
  const { revision = 7n, placementVersion = 5n, dropped = false } = changes;
  const summary = { currentStateVersionId: null, resourceCount: 0, latestChangeAt: null, revision };
  return { workspaceId: "ws-1", summary, placementVersion, dropped } satisfies StateRecord;
};

test.each([
  ["the same on both sides", here, there({}), [], []],
  ["a summary of state that was not received", here, there({ revision: 8n }), ["summary"], []],
  ["a move that state did not receive", here, there({ placementVersion: 4n }), ["placement"], []],
  ["a workspace never placed", here, there({ placementVersion: 0n }), ["placement"], []],
  ["a deletion that state did not receive", deleted, there({}), ["deletion"], []],
  ["a deletion that both sides recorded", deleted, there({ dropped: true }), [], []],
  ["absent here, without a deletion record", undefined, there({}), [], ["unknownHere"]],
  ["a tombstone of an unknown workspace", undefined, there({ dropped: true }), [], []],
  ["a tombstone of an existing workspace", here, there({ dropped: true }), [], ["droppedAtState"]],
  ["a state older than reported", here, there({ revision: 6n }), [], ["stateBehind"]],
  [
    "a placement that its owner has not assigned",
    here,
    there({ placementVersion: 6n }),
    ["placementAhead"],
    [],
  ],
  [
    "a summary from the future",
    { ...here, stateRevision: future },
    there({}),
    ["summaryAhead"],
    [],
  ],
] as const)("%s", (_, own, state, heal, report) => {
  expect(differences(own, state, now)).toEqual({ heal, report });
});
