import { Problems } from "@statehouse/errors";
import { describe, expect, test } from "vitest";
import type { WorkspaceId } from "../ids-domain.ts";
import { checkConsumers, requireApprovedConsumers } from "./domain.ts";

const check = (requested: WorkspaceId[], eligible: WorkspaceId[]) => {
  const problems = new Problems();
  checkConsumers({ id: "ws-own" }, requested, new Set(eligible), problems);
  problems.throwIfAny();
};

describe("consumers", () => {
  test("must be workspaces of the organization that the caller may read", () => {
    expect(() => check(["ws-a", "ws-b", "ws-a"], ["ws-a", "ws-b"])).not.toThrow();
  });

  test("cannot be the workspace itself or unreadable ones; all problems are reported", () => {
    expect(() => check(["ws-a", "ws-own", "ws-hidden"], ["ws-a", "ws-own"])).toThrow(
      expect.objectContaining({
        kind: "invalid",
        fields: [
          { field: "consumerIds[1]", detail: "A workspace cannot be its own consumer" },
          { field: "consumerIds[2]", detail: "Workspace 'ws-hidden' was not found" },
        ],
      }),
    );
  });

  test("cannot be changed while all workspaces of the organization may read", () => {
    expect(() => requireApprovedConsumers({ globalRemoteState: true })).toThrow(/global/);
    expect(() => requireApprovedConsumers({ globalRemoteState: false })).not.toThrow();
  });
});
