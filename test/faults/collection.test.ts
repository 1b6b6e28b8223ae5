import { execFile } from "node:child_process";
import {
  childEnvironment,
  mentions,
  needs,
  sharedDependencies,
  waitFor,
} from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { endLeases, eventually, type FaultFixture, healAll, stateReplica } from "./fixture.ts";
import { newLockedWorkspace, succession, unlock, write } from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const GONE = "backing_data_permanently_deleted";
const older = document("data-retention-policy-delete-olders", { "delete-older-than-n-days": 30 });
const never = document("data-retention-policy-dont-deletes", {});
/** A time limit that is long enough for several scans, which run every second. */
const PATIENCE = { timeout: 30_000, interval: 100 };

needs("minio")("while the collector works", () => {
  const fixture = useFaultFixture(() => ({
    store: "minio",
    settings: { COLLECTION_INTERVAL: "1" },
  }));

  const setPolicy = (id: string, policy: object) =>
    eventually(200, () =>
      fixture().owner.api.post(`/workspaces/${id}/relationships/data-retention-policy`, policy),
    );
  const statuses = async (id: string) =>
    (
      await fixture().rows<{ status: string }>(
        "state",
        "select status from state_versions where workspace_id = $1 order by position",
        [id],
      )
    ).map(({ status }) => status);
  const isCollected = async (id: string) =>
    (await statuses(id)).filter((one) => one === GONE).length;
  const passes = async () => {
    const [row] = await fixture().rows<{ finished_at: Date | null }>(
      "state",
      "select finished_at from scans where name = 'retention'",
    );
    return row?.finished_at?.getTime() ?? 0;
  };
  const wholeScan = async () => {
    const before = await passes();
    await waitFor(async () => (await passes()) > before, PATIENCE);
  };

  /** Creates a workspace with `count` versions, all 31 days old. */
  async function oldWorkspace(count = 3): Promise<{ id: string; due: number }> {
    const id = await newLockedWorkspace(fixture());
    const versions: string[] = [];
    for (const state of succession(count)) {
      const { body } = await expectStatus(201, write(fixture(), id, state));
      versions.push(body.data.id);
    }
    await fixture().rows(
      "state",
      `update state_versions set created_at = created_at - interval '31 days'
       where workspace_id = $1`,
      [id],
    );
    return { id, due: count - 1 };
  }
  /**
   * Removes the workspace's versions from the record of confirmed data, except the current one: the others may be
   * deleted.
   */
  async function promiseOnlyTheCurrent({ acknowledged, rows }: FaultFixture, id: string) {
    const [row] = await rows<{ id: string }>(
      "state",
      "select current_version_id as id from workspace_states where workspace_id = $1",
      [id],
    );
    for (const [versionId, { workspaceId }] of acknowledged) {
      if (workspaceId === id && versionId !== row?.id) acknowledged.delete(versionId);
    }
  }
  const collecting = (id: string) => mentions("state-versions.collected.v1", id);

  test("kill -9 within a batch: the batch is rolled back, and another replica takes over the page", async () => {
    proves("Data retention/in batches, resumable, by any number of replicas");
    const { stack, proxies } = fixture();
    const { id, due } = await oldWorkspace(4);
    await promiseOnlyTheCurrent(fixture(), id);
    const held = proxies.stateToDatabase.hold({ direction: "requests", when: collecting(id) });
    await setPolicy(id, older);
    await held;
    await stack.processes.state.kill();
    expect(await isCollected(id)).toBe(0);
    await healAll(fixture());
    await endLeases(fixture());
    await waitFor(async () => (await isCollected(id)) === due, PATIENCE);
  });

  test("kill -9 after a batch was committed: another replica deletes its bytes", async () => {
    const { stack, proxies, store } = fixture();
    const { id, due } = await oldWorkspace();
    await promiseOnlyTheCurrent(fixture(), id);
    const held = proxies.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: collecting(id),
    });
    await setPolicy(id, older);
    await held;
    await stack.processes.state.kill();
    expect(await isCollected(id)).toBe(due);
    const keys = async () => (await store.keys()).filter((key) => key.startsWith(`${id}/`)).length;
    expect(await keys()).toBe(due + 1);
    await healAll(fixture());
    await endLeases(fixture());
    await waitFor(async () => (await keys()) === 1, PATIENCE);
  });

  test("while the workspaces service is unavailable nothing is deleted; afterwards everything that is due is deleted", async () => {
    const { stack, proxies } = fixture();
    const { id, due } = await oldWorkspace();
    proxies.stateToWorkspaces.partition();
    await setPolicy(id, older);
    await stack.processes.workspaces.kill();
    proxies.stateToWorkspaces.heal();
    const before = await passes();
    await waitFor(held, PATIENCE);
    expect(await isCollected(id)).toBe(0);
    expect(await passes()).toBe(before);
    await promiseOnlyTheCurrent(fixture(), id);
    await healAll(fixture());
    await waitFor(async () => (await isCollected(id)) === due, PATIENCE);
  });
  /** Returns whether a page was claimed and then released before the end of the scan. */
  async function held(): Promise<boolean> {
    const [row] = await fixture().rows<{ tried: boolean }>(
      "state",
      `select holder is null and due_at > now() and started_at > coalesce(finished_at, 'epoch') as tried
       from scans where name = 'retention'`,
    );
    return row?.tried === true;
  }

  test("a policy that forbids deletion is effective while the answer with the old policy is in transit", async () => {
    proves("Data retention/a policy that changes meanwhile");
    const { proxies } = fixture();
    const { id } = await oldWorkspace();
    const answered = proxies.stateToWorkspaces.hold({ direction: "answers", when: mentions(id) });
    await setPolicy(id, older);
    await answered;
    await setPolicy(id, never);
    proxies.stateToWorkspaces.release();
    await wholeScan();
    await wholeScan();
    expect(await statuses(id)).toEqual(["finalized", "finalized", "finalized"]);
  });

  test("while the store does not respond rows are deleted, their bytes are deleted later, and other requests succeed", async () => {
    const { proxies, rows } = fixture();
    const { id, due } = await oldWorkspace();
    await promiseOnlyTheCurrent(fixture(), id);
    proxies.stateToStore.freeze();
    await setPolicy(id, older);
    await waitFor(async () => (await isCollected(id)) === due, PATIENCE);
    const waiting = await rows("state", "select from blob_deletions where key like $1", [
      `${id}/%`,
    ]);
    expect(waiting).toHaveLength(due);
    expect((await unlock(fixture(), id)).status).toBe(200);
    proxies.stateToStore.release();
  });

  test("a workspace dropped meanwhile is left to its own purge", async () => {
    const { proxies, owner } = fixture();
    const { id } = await oldWorkspace();
    const { id: locked, due } = await oldWorkspace();
    for (const one of [id, locked]) await promiseOnlyTheCurrent(fixture(), one);
    const answered = proxies.stateToWorkspaces.hold({
      direction: "answers",
      when: mentions(locked),
    });
    for (const one of [id, locked]) await setPolicy(one, older);
    await answered;
    for (const [versionId, { workspaceId }] of fixture().acknowledged) {
      if (workspaceId === id) fixture().acknowledged.delete(versionId);
    }
    await expectStatus(204, owner.api.delete(`/workspaces/${id}`));
    proxies.stateToWorkspaces.release();
    await waitFor(async () => (await isCollected(locked)) === due, PATIENCE);
    await waitFor(async () => (await statuses(id)).length === 0, PATIENCE);
  });

  test("two replicas and a command delete each version once, and the dry run lists them before", async () => {
    proves("Data retention/in batches, resumable, by any number of replicas");
    const { stack, rows } = fixture();
    const old = await Promise.all(Array.from({ length: 6 }, () => oldWorkspace(5)));
    for (const { id } of old) await promiseOnlyTheCurrent(fixture(), id);
    await stack.processes.state.kill();
    for (const { id } of old) {
      await rows(
        "workspaces",
        `insert into data_retention_policies (id, workspace_id, kind, delete_older_than_n_days, revision)
         values ('drp-' || right($1, 16), $1, 'delete-older', 30, 1)`,
        [id],
      );
    }
    const dry = await command(stack.environments.state, "--dry-run");
    expect(dry.code).toBe(0);
    for (const { id, due } of old) {
      expect(dry.lines.filter((line) => line.startsWith(`${id} sv-`))).toHaveLength(due);
      expect(await isCollected(id)).toBe(0);
    }
    expect(dry.lines.some((line) => /^would delete \d+ versions, \d+ bytes/.test(line))).toBe(true);
    await using other = await stateReplica(fixture());
    await Promise.all([
      stack.processes.state.start(),
      other.start(),
      command(stack.environments.state),
    ]);
    for (const { id, due } of old) {
      await waitFor(async () => (await isCollected(id)) === due, PATIENCE);
      expect(await statuses(id)).toEqual([...Array(due).fill(GONE), "finalized"]);
    }
    await other.terminate();
  });
});

const command = async (environment: Record<string, string>, ...options: string[]) => {
  const program = [sharedDependencies().program, "collect", ...options];
  return new Promise<{ code: unknown; lines: string[] }>((resolve) => {
    execFile(
      process.execPath,
      program,
      { env: childEnvironment(environment) },
      (error, out, stderr) =>
        resolve({ code: error?.code ?? (stderr || 0), lines: out.split("\n") }),
    );
  });
};
