import { mentions, waitFor } from "@statehouse/testing";
import { describe, expect, test } from "vitest";
import { type Answer, download } from "../stack/http.ts";
import { eventually, healAll } from "./fixture.ts";
import {
  attempted,
  forget,
  lock,
  newLockedWorkspace,
  newWorkspace,
  one,
  unlock,
  write,
} from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const fixture = useFaultFixture(() => ({}));

const sealedEpoch = async (id: string) =>
  (
    await fixture().rows<{ sealed: string }>(
      "state",
      "select sealed_epoch as sealed from workspace_states where workspace_id = $1",
      [id],
    )
  )[0]?.sealed;

const lockEpoch = async (id: string) =>
  (
    await fixture().rows<{ epoch: string | null }>(
      "workspaces",
      "select lock_epoch as epoch from workspaces where id = $1",
      [id],
    )
  )[0]?.epoch;

/**
 * Waits until the workspaces service has the summary of the workspace's new state, which it requests from the state
 * service. Otherwise a proxy could hold that request or its response instead of the one that the test needs.
 */
const awaitSummary = (id: string) =>
  waitFor(
    async () => {
      const [row] = await fixture().rows<{ count: number }>(
        "workspaces",
        "select resource_count as count from workspaces where id = $1",
        [id],
      );
      return (row?.count ?? 0) > 0;
    },
    { what: "the summary" },
  );

/** Expects a 503, which clients retry: the response of the other service was lost. */
const expectUnanswered = (answer: Answer | undefined) => expect(answer?.status).toBe(503);

describe("kill -9 of workspaces between seal and release", () => {
  test.each(["unlock", "force-unlock"])("a repeated %s succeeds", async (action) => {
    const { stack, proxies, owner } = fixture();
    const id = await newLockedWorkspace(fixture());
    expect((await write(fixture(), id, one())).status).toBe(201);
    await awaitSummary(id);
    const act = () => owner.api.post(`/workspaces/${id}/actions/${action}`);
    const held = proxies.workspacesToState.hold({
      direction: "answers",
      when: () => true,
      after: mentions(id),
    });
    const response = act();
    await held;
    // Whether the state service has sent its response is unknown, so the test waits for the effect of its transaction.
    const epoch = await lockEpoch(id);
    await waitFor(async () => (await sealedEpoch(id)) === epoch, { what: "the seal" });
    await stack.processes.workspaces.kill();
    expectUnanswered(await response);
    await healAll(fixture());
    const shown = await owner.api.get(`/workspaces/${id}`);
    expect(shown.body.data.attributes.locked).toBe(true);
    // The epoch is sealed, so the holder of the lock can no longer write under it.
    expect((await write(fixture(), id, one())).status).toBe(409);
    await eventually(200, act);
    expect((await lock(fixture(), id)).status).toBe(200);
    expect((await unlock(fixture(), id)).status).toBe(200);
  });

  test("after the release, before the response: a repeated unlock reports that the workspace is already unlocked", async () => {
    const { stack, proxies, owner } = fixture();
    const id = await newLockedWorkspace(fixture());
    const held = proxies.workspacesToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: mentions("workspace.unlocked.v1", id),
    });
    const response = unlock(fixture(), id);
    await held;
    await stack.processes.workspaces.kill();
    expectUnanswered(await response);
    await healAll(fixture());
    expect((await owner.api.get(`/workspaces/${id}`)).body.data.attributes.locked).toBe(false);
    const repeated = await unlock(fixture(), id);
    expect(repeated.status).toBe(409);
    expect(repeated.body.errors[0].detail).toContain("already unlocked");
  });
});

describe("kill -9 of workspaces between a deletion and DropWorkspace", () => {
  /**
   * Deletes a workspace with state, and kills the workspaces service before the state service has received the call.
   */
  async function crashDeleting() {
    const { stack, proxies, owner } = fixture();
    const id = await newLockedWorkspace(fixture());
    const written = await write(fixture(), id, one());
    expect(written.status).toBe(201);
    await awaitSummary(id);
    expect((await unlock(fixture(), id)).status).toBe(200);
    await waitFor(async () => (await owner.api.get(`/workspaces/${id}`)).status === 200);
    // Holds back the deletion event: otherwise the state service could delete the state because of the event, before it
    // receives DropWorkspace.
    proxies.workspacesToNats.freeze();
    const held = proxies.workspacesToState.hold({ direction: "requests", when: mentions(id) });
    const response = attempted(owner.api.delete(`/workspaces/${id}`));
    await held;
    await stack.processes.workspaces.kill();
    expectUnanswered(await response);
    const { attributes } = written.body.data;
    forget(fixture(), id);
    const url: string = attributes["hosted-state-download-url"];
    expect((await download(url, owner.token)).status).toBe(200);
    return { id, url };
  }

  test("the repeated request completes the deletion", async () => {
    const { owner, proxies } = fixture();
    const { id, url } = await crashDeleting();
    proxies.workspacesToState.release();
    await fixture().stack.processes.workspaces.start();
    await eventually(204, () => owner.api.delete(`/workspaces/${id}`));
    expect((await download(url, owner.token)).status).toBe(404);
    expect((await owner.api.delete(`/workspaces/${id}`)).status).toBe(404);
  });

  test("without a repeated request, the event of the deletion completes it", async () => {
    const { owner } = fixture();
    const { id, url } = await crashDeleting();
    await healAll(fixture());
    expect((await owner.api.get(`/workspaces/${id}`)).status).toBe(404);
    await waitFor(async () => (await download(url, owner.token)).status === 404);
  });

  test("without a bus: reconciliation completes the deletion", async () => {
    const { owner, proxies, stack, rows } = fixture();
    const { id, url } = await crashDeleting();
    await rows(
      "workspaces",
      "update workspace_deletions set retry_at = now() where workspace_id = $1",
      [id],
    );
    proxies.workspacesToState.release();
    await stack.processes.workspaces.start();
    await waitFor(async () => (await download(url, owner.token)).status === 404);
    expect(await rows("workspaces", "select from outbox where subject = $1", [id])).not.toEqual([]);
  });

  test("a safe delete that crashed allows other locks after its lease ended", async () => {
    const { owner, proxies, stack, rows } = fixture();
    const id = await newWorkspace(fixture());
    const held = proxies.workspacesToState.hold({
      direction: "answers",
      when: () => true,
      after: mentions(id),
    });
    const response = owner.api.post(`/workspaces/${id}/actions/safe-delete`);
    await held;
    await stack.processes.workspaces.kill();
    expectUnanswered(await response);
    await healAll(fixture());
    expect((await lock(fixture(), id)).status).toBe(409);
    await rows("workspaces", "update workspaces set deletion_lock_until = now() where id = $1", [
      id,
    ]);
    await eventually(204, () => owner.api.post(`/workspaces/${id}/actions/safe-delete`));
  });
});
