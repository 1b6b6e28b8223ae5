import { proves } from "@statehouse/testing/proves";
import { beforeEach, describe, expect, test } from "vitest";
import { makeCurrent, type StateVersion } from "../state-version/domain.ts";
import { madeVersion } from "../test/made-version.ts";
import { dropWorkspaceState, newWorkspaceState } from "../workspace-state/domain.ts";
import { type BackingDataAction, changeBackingData } from "./domain.ts";

const now = new Date("2026-01-01T00:00:00Z");

function act(action: BackingDataAction, made: StateVersion, workspace = newWorkspaceState("ws-a")) {
  try {
    changeBackingData(action, { workspaceState: workspace, version: made, now });
    return made.status;
  } catch (error) {
    expect(error).toMatchObject({ kind: "badRequest", reason: "transition_not_allowed" });
    expect(String(error)).toContain("transition not allowed");
    return "refused";
  }
}

const soft = "backing_data_soft_deleted";
const gone = "backing_data_permanently_deleted";

describe("the specification's table of statuses", () => {
  beforeEach(() =>
    proves("State version status/every other transition is 400, with the text that says so"),
  );
  test.each([
    ["softDelete", "pending", "refused"],
    ["softDelete", "discarded", "refused"],
    ["softDelete", "finalized", soft],
    ["softDelete", soft, "refused"],
    ["softDelete", gone, "refused"],
    ["restore", "pending", "refused"],
    ["restore", "discarded", "refused"],
    ["restore", "finalized", "refused"],
    ["restore", soft, "finalized"],
    ["restore", gone, "refused"],
    ["permanentlyDelete", "pending", "refused"],
    ["permanentlyDelete", "discarded", "refused"],
    ["permanentlyDelete", "finalized", "refused"],
    ["permanentlyDelete", soft, gone],
    ["permanentlyDelete", gone, "refused"],
  ] as const)("%s of a version that is %s: %s", (action, status, expected) => {
    expect(act(action, madeVersion({ status }))).toBe(expected);
  });

  test("the current version can be neither soft-deleted nor permanently deleted", () => {
    proves("State version status/every other transition is 400, with the text that says so");
    const workspace = newWorkspaceState("ws-a");
    const current = madeVersion();
    makeCurrent(workspace, current, now);
    expect(act("softDelete", current, workspace)).toBe("refused");
    current.status = soft;
    expect(act("permanentlyDelete", current, workspace)).toBe("refused");
    expect(act("restore", current, workspace)).toBe("finalized");
  });

  test("the snapshot that the next unlock makes current is protected; an older one is not", () => {
    proves("State version status/every other transition is 400, with the text that says so");
    const workspace = newWorkspaceState("ws-a");
    makeCurrent(workspace, madeVersion({ position: 2n }), now);
    const next = madeVersion({ position: 3n, intermediate: true });
    expect(act("softDelete", next, workspace)).toBe("refused");
    expect(act("softDelete", madeVersion({ intermediate: true }), workspace)).toBe(soft);
  });
});

test("a soft-deleted snapshot of a dropped workspace can be permanently deleted", () => {
  const workspace = newWorkspaceState("ws-a");
  makeCurrent(workspace, madeVersion({ position: 2n }), now);
  const snapshot = madeVersion({ intermediate: true });
  act("softDelete", snapshot, workspace);
  dropWorkspaceState(workspace, now);
  expect(act("permanentlyDelete", snapshot, workspace)).toBe(gone);
});

test("the restoration period starts at the soft deletion and ends with a restoration", () => {
  const made = madeVersion();
  act("softDelete", made);
  expect(made.softDeletedAt).toEqual(now);
  act("restore", made);
  expect(made.softDeletedAt).toBeNull();
});
