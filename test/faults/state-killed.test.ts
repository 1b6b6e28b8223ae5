import { mentions, needs, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download, upload } from "../stack/http.ts";
import { stateFile } from "../stack/state.ts";
import { eventually, type FaultFixture, healAll } from "./fixture.ts";
import { partialUpload } from "./partial-upload.ts";
import {
  acknowledge,
  announce,
  attempted,
  forget,
  lock,
  newLockedWorkspace,
  one,
  unlock,
  write,
} from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const finalizing = (workspaceId: string) => mentions("state-version.finalized.v1", workspaceId);

const statusOf = async ({ rows }: FaultFixture, versionId: string) =>
  (
    await rows<{ status: string }>("state", "select status from state_versions where id = $1", [
      versionId,
    ])
  )[0]?.status;

/** Repeats the upload until it is confirmed, because clients repeat an upload that receives no response. */
async function putAgain(
  fixture: FaultFixture,
  version: { id: string; workspaceId: string; uploadUrl: string },
  bytes: Buffer,
) {
  await eventually(200, () => upload(version.uploadUrl, bytes));
  acknowledge(fixture, version.workspaceId, version.id, { bytes });
}

function killingState(fixture: () => FaultFixture, store: "directory" | "minio") {
  test("during an upload: the same URL accepts the state afterwards", async () => {
    proves("Upload/a failed upload leaves the URL usable");
    const { stack, proxies, store: view } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = stateFile({
      marker: "x".repeat(4_000_000),
      outputs: { one: { value: 1, type: "number" } },
    });
    const version = await announce(fixture(), id, state);
    const underWay =
      store === "minio"
        ? proxies.stateToStore.hold({ direction: "requests", when: mentions("xxxxxxxx") })
        : waitFor(async () => (await view.keys()).some((key) => key.startsWith("unfinished/")));
    await using _ = partialUpload(version.uploadUrl, state.bytes, 2_000_000);
    await underWay;
    await stack.processes.state.kill();
    await healAll(fixture());
    expect(await statusOf(fixture(), version.id)).toBe("pending");
    expect((await unlock(fixture(), id)).status).toBe(503);
    await putAgain(fixture(), version, state.bytes);
    expect((await unlock(fixture(), id)).status).toBe(200);
  });

  test("between the blob and its row: the version is still pending, and the blob has no row", async () => {
    proves("Durability/what was acknowledged stays, whatever falls over");
    const { stack, proxies, store: view } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const version = await announce(fixture(), id, state);
    const held = proxies.stateToDatabase.hold({ direction: "requests", when: finalizing(id) });
    const first = attempted(upload(version.uploadUrl, state.bytes));
    await held;
    await stack.processes.state.kill();
    expect(await first).toBeUndefined();
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(1);
    await healAll(fixture());
    expect(await statusOf(fixture(), version.id)).toBe("pending");
    await putAgain(fixture(), version, state.bytes);
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(2);
  });
}

describe("kill -9 of state with bytes in a directory", () => {
  const fixture = useFaultFixture(() => ({ store: "directory" }));
  killingState(fixture, "directory");

  test("after the commit, before the response: a repeated upload of the same bytes returns 200", async () => {
    proves("Upload/the same bytes again 200, other bytes 409");
    const { stack, proxies, store: view } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const version = await announce(fixture(), id, state);
    const held = proxies.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: finalizing(id),
    });
    const first = attempted(upload(version.uploadUrl, state.bytes));
    await held;
    expect(await statusOf(fixture(), version.id)).toBe("finalized");
    await stack.processes.state.kill();
    expect(await first).toBeUndefined();
    await healAll(fixture());
    await putAgain(fixture(), version, state.bytes);
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(1);
    const other = await upload(version.uploadUrl, one().bytes);
    expect(other.status).toBe(409);
  });

  test("after the commit of inline state: a repeated request returns the same version", async () => {
    const { stack, proxies } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const held = proxies.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: finalizing(id),
    });
    const first = write(fixture(), id, state);
    await held;
    await stack.processes.state.kill();
    expect((await first).status).toBe(503);
    await healAll(fixture());
    const repeated = await eventually(201, () => write(fixture(), id, state));
    const list = await fixture().rows(
      "state",
      "select id from state_versions where workspace_id = $1",
      [id],
    );
    expect(list).toEqual([{ id: repeated.body.data.id }]);
    expect((await unlock(fixture(), id)).status).toBe(200);
  });

  test("after the commit of a create request: a repeated request returns the pending version and its URL", async () => {
    proves("State version creation rules/a repeat answers the");
    const { stack, proxies } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const held = proxies.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: mentions("state-version.created.v1", id),
    });
    const first = attempted(announce(fixture(), id, state).then(() => Promise.reject(new Error())));
    await held;
    await stack.processes.state.kill();
    await first;
    await healAll(fixture());
    const version = await announce(fixture(), id, state);
    const list = await fixture().rows(
      "state",
      "select id from state_versions where workspace_id = $1",
      [id],
    );
    expect(list).toEqual([{ id: version.id }]);
    await putAgain(fixture(), version, state.bytes);
  });

  test("after the tombstone of a deleted workspace, before the response: the deletion completes", async () => {
    const { stack, proxies, owner } = fixture();
    const id = await newLockedWorkspace(fixture());
    const written = await write(fixture(), id, one());
    forget(fixture(), id);
    const held = proxies.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: mentions("dropped_at", id, "update"),
    });
    const response = owner.api.delete(`/workspaces/${id}`);
    await held;
    await stack.processes.state.kill();
    expect((await response).status).toBe(503);
    await healAll(fixture());
    // The deletion event may have completed the deletion before the repeated request, which then returns 404.
    const repeated = await owner.api.delete(`/workspaces/${id}`);
    expect([204, 404]).toContain(repeated.status);
    const url = written.body.data.attributes["hosted-state-download-url"];
    expect((await download(url, owner.token)).status).toBe(404);
  });

  test("while it seals a lock: the workspace can be unlocked afterwards", async () => {
    const { stack, proxies } = fixture();
    const id = await newLockedWorkspace(fixture());
    expect((await write(fixture(), id, one())).status).toBe(201);
    const held = proxies.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: mentions("workspace_states", id),
    });
    const response = unlock(fixture(), id);
    await held;
    await stack.processes.state.kill();
    expect((await response).status).toBeGreaterThanOrEqual(503);
    await healAll(fixture());
    await eventually(200, () => unlock(fixture(), id));
    expect((await lock(fixture(), id)).status).toBe(200);
  });
});

needs("minio")("kill -9 of state, bytes in MinIO", () => {
  const fixture = useFaultFixture(() => ({ store: "minio" }));
  killingState(fixture, "minio");

  test("when the store has the bytes and its response is lost: the same URL accepts them again", async () => {
    const { stack, proxies, store: view } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const version = await announce(fixture(), id, state);
    const held = proxies.stateToStore.hold({
      direction: "answers",
      when: mentions("HTTP/1.1 200"),
      after: mentions("PUT /", version.id),
    });
    const first = attempted(upload(version.uploadUrl, state.bytes));
    await held;
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(1);
    await stack.processes.state.kill();
    expect(await first).toBeUndefined();
    await healAll(fixture());
    await putAgain(fixture(), version, state.bytes);
  });
});
