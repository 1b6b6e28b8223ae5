import { mentions, needs, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download, upload } from "../stack/http.ts";
import { stateFile } from "../stack/state.ts";
import { partialUpload } from "./partial-upload.ts";
import { eventually, mendAll, type Site } from "./site.ts";
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
import { useSite } from "./use-site.ts";

const finalizing = (workspaceId: string) => mentions("state-version.finalized.v1", workspaceId);

const statusOf = async ({ rows }: Site, versionId: string) =>
  (
    await rows<{ status: string }>("state", "select status from state_versions where id = $1", [
      versionId,
    ])
  )[0]?.status;

/** Repeats the upload until it is confirmed, as a client does without a response. */
async function putAgain(
  site: Site,
  version: { id: string; workspaceId: string; uploadUrl: string },
  bytes: Buffer,
) {
  await eventually(200, () => upload(version.uploadUrl, bytes));
  acknowledge(site, version.workspaceId, version.id, { bytes });
}

function killingState(site: () => Site, store: "directory" | "minio") {
  test("in the middle of an upload: the same URL takes the state afterwards", async () => {
    proves("Upload/a failed upload leaves the URL usable");
    const { stack, wires, store: view } = site();
    const id = await newLockedWorkspace(site());
    const state = stateFile({
      marker: "x".repeat(4_000_000),
      outputs: { one: { value: 1, type: "number" } },
    });
    const version = await announce(site(), id, state);
    const underWay =
      store === "minio"
        ? wires.stateToStore.hold({ direction: "requests", when: mentions("xxxxxxxx") })
        : waitFor(async () => (await view.keys()).some((key) => key.startsWith("unfinished/")));
    await using _ = partialUpload(version.uploadUrl, state.bytes, 2_000_000);
    await underWay;
    await stack.processes.state.kill();
    await mendAll(site());
    expect(await statusOf(site(), version.id)).toBe("pending");
    expect((await unlock(site(), id)).status).toBe(503);
    await putAgain(site(), version, state.bytes);
    expect((await unlock(site(), id)).status).toBe(200);
  });

  test("between the blob and its row: the version is still pending, the blob has no owner", async () => {
    proves("Durability/what was acknowledged stays, whatever falls over");
    const { stack, wires, store: view } = site();
    const id = await newLockedWorkspace(site());
    const state = one();
    const version = await announce(site(), id, state);
    const held = wires.stateToDatabase.hold({ direction: "requests", when: finalizing(id) });
    const first = attempted(upload(version.uploadUrl, state.bytes));
    await held;
    await stack.processes.state.kill();
    expect(await first).toBeUndefined();
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(1);
    await mendAll(site());
    expect(await statusOf(site(), version.id)).toBe("pending");
    await putAgain(site(), version, state.bytes);
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(2);
  });
}

describe("kill -9 of state, bytes in a directory", () => {
  const site = useSite(() => ({ store: "directory" }));
  killingState(site, "directory");

  test("after the commit, before the answer: the client's repeat of the same bytes is 200", async () => {
    proves("Upload/the same bytes again 200, other bytes 409");
    const { stack, wires, store: view } = site();
    const id = await newLockedWorkspace(site());
    const state = one();
    const version = await announce(site(), id, state);
    const held = wires.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: finalizing(id),
    });
    const first = attempted(upload(version.uploadUrl, state.bytes));
    await held;
    expect(await statusOf(site(), version.id)).toBe("finalized");
    await stack.processes.state.kill();
    expect(await first).toBeUndefined();
    await mendAll(site());
    await putAgain(site(), version, state.bytes);
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(1);
    const other = await upload(version.uploadUrl, one().bytes);
    expect(other.status).toBe(409);
  });

  test("after the commit of a state sent inline: the repeat of the request is answered the same version", async () => {
    const { stack, wires } = site();
    const id = await newLockedWorkspace(site());
    const state = one();
    const held = wires.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: finalizing(id),
    });
    const first = write(site(), id, state);
    await held;
    await stack.processes.state.kill();
    expect((await first).status).toBe(503);
    await mendAll(site());
    const repeated = await eventually(201, () => write(site(), id, state));
    const list = await site().rows(
      "state",
      "select id from state_versions where workspace_id = $1",
      [id],
    );
    expect(list).toEqual([{ id: repeated.body.data.id }]);
    expect((await unlock(site(), id)).status).toBe(200);
  });

  test("after the commit of a create request: its repeat gets the pending version and its URL", async () => {
    proves("State version creation rules/a repeat answers the");
    const { stack, wires } = site();
    const id = await newLockedWorkspace(site());
    const state = one();
    const held = wires.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: mentions("state-version.created.v1", id),
    });
    const first = attempted(announce(site(), id, state).then(() => Promise.reject(new Error())));
    await held;
    await stack.processes.state.kill();
    await first;
    await mendAll(site());
    const version = await announce(site(), id, state);
    const list = await site().rows(
      "state",
      "select id from state_versions where workspace_id = $1",
      [id],
    );
    expect(list).toEqual([{ id: version.id }]);
    await putAgain(site(), version, state.bytes);
  });

  test("after the tombstone of a deleted workspace, before its answer: the deletion completes", async () => {
    const { stack, wires, owner } = site();
    const id = await newLockedWorkspace(site());
    const written = await write(site(), id, one());
    forget(site(), id);
    const held = wires.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: mentions("dropped_at", id, "update"),
    });
    const asked = owner.api.delete(`/workspaces/${id}`);
    await held;
    await stack.processes.state.kill();
    expect((await asked).status).toBe(503);
    await mendAll(site());
    // Its event can complete it before the repeat.
    const repeated = await owner.api.delete(`/workspaces/${id}`);
    expect([204, 404]).toContain(repeated.status);
    const url = written.body.data.attributes["hosted-state-download-url"];
    expect((await download(url, owner.token)).status).toBe(404);
  });

  test("while it seals a lock: the workspace can be unlocked afterwards", async () => {
    const { stack, wires } = site();
    const id = await newLockedWorkspace(site());
    expect((await write(site(), id, one())).status).toBe(201);
    const held = wires.stateToDatabase.hold({
      direction: "answers",
      when: mentions("COMMIT\0"),
      after: mentions("workspace_states", id),
    });
    const asked = unlock(site(), id);
    await held;
    await stack.processes.state.kill();
    expect((await asked).status).toBeGreaterThanOrEqual(503);
    await mendAll(site());
    await eventually(200, () => unlock(site(), id));
    expect((await lock(site(), id)).status).toBe(200);
  });
});

needs("minio")("kill -9 of state, bytes in MinIO", () => {
  const site = useSite(() => ({ store: "minio" }));
  killingState(site, "minio");

  test("when the store has the bytes and its answer is lost: the same URL takes them again", async () => {
    const { stack, wires, store: view } = site();
    const id = await newLockedWorkspace(site());
    const state = one();
    const version = await announce(site(), id, state);
    const held = wires.stateToStore.hold({
      direction: "answers",
      when: mentions("HTTP/1.1 200"),
      after: mentions("PUT /", version.id),
    });
    const first = attempted(upload(version.uploadUrl, state.bytes));
    await held;
    expect((await view.keys()).filter((key) => key.includes(version.id))).toHaveLength(1);
    await stack.processes.state.kill();
    expect(await first).toBeUndefined();
    await mendAll(site());
    await putAgain(site(), version, state.bytes);
  });
});
