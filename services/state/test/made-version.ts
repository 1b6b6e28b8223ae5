import { newStateVersion, type StateVersion } from "../state-version/domain.ts";

const at = new Date("2026-01-01T00:00:00Z");

/**
 * Returns a finalized version of the workspace `ws-a`, for tests of rules; `more` sets the fields that the test needs.
 */
export function madeVersion(more: Partial<StateVersion> = {}): StateVersion {
  const { position = 1n } = more;
  const made = newStateVersion({
    id: `sv-${position}`,
    workspaceId: "ws-a",
    position,
    lockEpoch: 10n,
    serial: position,
    md5: "",
    lineage: "",
    intermediate: false,
    createdAt: at,
    createdByType: "user",
    createdById: "user-a",
    createdTokenId: null,
    runId: null,
    expiresAt: at,
    outputsGiven: false,
  });
  made.status = "finalized";
  return Object.assign(made, more);
}
