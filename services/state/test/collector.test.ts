import { metricsText } from "@statehouse/runtime";
import { startTelemetry } from "@statehouse/runtime/telemetry";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCollector } from "../retention/worker.ts";
import { type RunningState, runState } from "./running-state.ts";

const stack = new AsyncDisposableStack();
let state: RunningState;
beforeAll(async () => {
  // Telemetry must start before the instruments are created.
  stack.use(await startTelemetry({ service: "state", env: {} }));
  state = stack.use(await runState());
});
afterAll(() => stack.disposeAsync());

/** Creates a workspace whose policy keeps versions for 30 days, with three versions of four bytes each. */
async function oldVersions(): Promise<{ workspaceId: string; ids: string[] }> {
  const workspaceId = state.lockedWorkspace();
  const ids: string[] = [];
  for (const serial of [1n, 2n, 3n]) {
    const created = await state.create(workspaceId, `abc${serial}`, { serial });
    await state.put(created.internalUploadPath, `abc${serial}`);
    ids.push(created.stateVersion?.id ?? "");
  }
  state.fakes.retain(workspaceId, { days: 30 });
  return { workspaceId, ids };
}

const age = (workspaceIds: string[]) =>
  state.database.query(
    `update state_versions set created_at = created_at - interval '31 days'
     where workspace_id = any($1)`,
    [workspaceIds],
  );

/** Returns the value of a metric with these labels; undefined if the metric has no such value. */
async function metricOf(name: string, labels: Record<string, string>): Promise<number | undefined> {
  const line = (await metricsText())
    .split("\n")
    .filter((text) => text.startsWith(`${name}{`))
    .find((text) =>
      Object.entries(labels).every(([key, value]) => text.includes(`${key}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.split("} ")[1]?.split(" ")[0]);
}

test("metrics report deletions by rule, retained versions by reason, and the progress of the scan", async () => {
  proves("Data retention/metrics");
  const [plain, copied] = [await oldVersions(), await oldVersions()];
  await state.versions.rollbackStateVersion({
    workspaceId: copied.workspaceId,
    rollbackStateVersionId: copied.ids[0] ?? "",
  });
  await age([plain.workspaceId, copied.workspaceId]);
  const scan = { scan: "retention" };
  {
    await using _collector = startCollector(state.app);
    await waitFor(async () => (await metricOf("statehouse_scan_found", scan)) !== undefined);
  }
  // Two versions of each workspace were deleted. The first version of the second workspace is retained, because the
  // current version is a rollback to it and shares its blob.
  expect(await metricOf("statehouse_state_versions_collected_total", { rule: "policy" })).toBe(4);
  expect(await metricOf("statehouse_state_collected_bytes_total", { rule: "policy" })).toBe(16);
  expect(await metricOf("statehouse_state_versions_retained_total", { reason: "shared" })).toBe(1);
  expect(await metricOf("statehouse_scan_seen", scan)).toBe(2);
  expect(await metricOf("statehouse_scan_found", scan)).toBe(4);
  expect(await metricOf("statehouse_scan_age_seconds", scan)).toBeLessThan(60);
  // The metrics also show the progress of other replicas, because all replicas share the scan.
  state.pass(state.app.settings.collectionIntervalMs);
  await using _collector = startCollector(state.app);
  await waitFor(async () => (await metricOf("statehouse_scan_found", scan)) === 0);
  expect(await metricOf("statehouse_state_versions_collected_total", { rule: "policy" })).toBe(4);
});
