import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { proves } from "@statehouse/testing/proves";
import { expect, it } from "vitest";
import { permanentlyDeleteBackingData, softDeleteBackingData } from "../../backing-data/app.ts";
import { discardExpiredVersions } from "../../discarded-version/app.ts";
import type { StateVersionId } from "../../ids-domain.ts";
import { ownedKeys } from "../retained.ts";
import { IDLE_MS, onEveryStore } from "../running-objects.ts";
import { owner } from "../service-fakes.ts";

onEveryStore("uploads to a version that changes meanwhile", (objects) => {
  /** Starts an upload, runs `meanwhile` after the upload was accepted, and only then sends the rest of the bytes. */
  async function overtaken(path: string, content: Buffer, meanwhile: () => Promise<unknown>) {
    const headers = "Expect: 100-continue\r\nConnection: close\r\n";
    const socket = objects().rawPut(path, content.length, headers);
    const accepted = once(socket, "data");
    const answer = text(socket);
    await accepted;
    let sent = 0;
    const send = (to: number) => {
      socket.write(content.subarray(sent, to));
      sent = to;
    };
    const drip = setInterval(() => send(sent + 1), IDLE_MS / 8);
    try {
      await meanwhile();
    } finally {
      clearInterval(drip);
    }
    send(content.length);
    return (await answer).slice("HTTP/1.1 100 Continue\r\n\r\n".length);
  }
  const rowOf = async (id: string) => {
    const [row] = await objects().state.database.query(
      "select status, blob_key, json_blob_key from state_versions where id = $1",
      [id],
    );
    return row;
  };
  const nothing = { blob_key: null, json_blob_key: null };

  it.each([
    [
      "superseded by a newer version",
      "409",
      (workspaceId: string) => objects().state.create(workspaceId, "newer", { serial: 2n }),
    ],
    [
      "discarded by a force-unlock",
      "409",
      (workspaceId: string) =>
        objects().state.workspaceState.sealLock({
          workspaceId,
          epoch: 10n,
          discardPending: true,
        }),
    ],
    [
      "discarded after its window",
      "409",
      async () => {
        const { app, pass } = objects().state;
        pass(app.settings.pendingWindowMs);
        await discardExpiredVersions(app);
      },
    ],
    [
      "dropped with its workspace",
      "404",
      (workspaceId: string) => objects().state.workspaceState.dropWorkspace({ workspaceId }),
    ],
  ])("%s: refused with %s", async (_, status, meanwhile) => {
    proves("Upload/never onto a discarded or deleted version");
    const workspaceId = objects().state.lockedWorkspace();
    const content = randomBytes(5000);
    const version = await objects().pending(content, workspaceId);
    const answer = await overtaken(version.raw, content, () => meanwhile(workspaceId));
    expect(answer.startsWith(`HTTP/1.1 ${status} `), answer).toBe(true);
    expect(await rowOf(version.id)).toMatchObject({
      ...nothing,
      status: status === "404" ? "pending" : "discarded",
    });
    const keys = await objects().keysOf(version.id);
    expect(await ownedKeys(objects().state.app, keys)).toEqual(new Set());
  });

  it.each([
    ["soft-deleted", [softDeleteBackingData]],
    ["permanently deleted", [softDeleteBackingData, permanentlyDeleteBackingData]],
  ])("%s during the upload of its JSON form", async (_, actions) => {
    proves("Upload/never onto a discarded or deleted version");
    const { state } = objects();
    const workspaceId = state.lockedWorkspace();
    const version = await objects().pending("first", workspaceId);
    expect((await objects().send(version.raw, "PUT", { body: "first" })).status).toBe(200);
    const second = await state.create(workspaceId, "second", { serial: 2n });
    await objects().send(second.internalUploadPath, "PUT", { body: "second" });
    const caller = await state.callerOf(owner);
    const remove = async () => {
      for (const action of actions) {
        await action(state.app, caller, version.id as StateVersionId);
      }
    };
    const answer = await overtaken(version.json, randomBytes(5000), remove);
    expect(answer).toMatch(/^HTTP\/1.1 409 [\s\S]*"The state version's data was deleted;/);
    expect(await rowOf(version.id)).toMatchObject({ json_blob_key: null });
  });

  it("the upload window ends during the upload of the JSON form: refused as at an expired URL", async () => {
    const { state, pending, send } = objects();
    const version = await pending("x");
    expect((await send(version.raw, "PUT", { body: "x" })).status).toBe(200);
    const answer = await overtaken(version.json, randomBytes(5000), async () =>
      state.pass(state.app.settings.pendingWindowMs),
    );
    expect(answer).toMatch(/^HTTP\/1.1 404 [\s\S]*"This upload URL is invalid or has expired."/);
    expect(await rowOf(version.id)).toMatchObject({ status: "finalized", json_blob_key: null });
  });

  it("JSON form after the upload window, by the URL of a repeated create request: refused with 409", async () => {
    const { state, send } = objects();
    const workspaceId = state.lockedWorkspace();
    const created = await state.create(workspaceId, "x");
    expect((await send(created.internalUploadPath, "PUT", { body: "x" })).status).toBe(200);
    state.pass(state.app.settings.pendingWindowMs);
    const repeat = await state.create(workspaceId, "x");
    expect(repeat.stateVersion).toMatchObject({
      id: created.stateVersion?.id,
      status: "finalized",
    });
    const answer = await send(repeat.internalJsonUploadPath, "PUT", { body: "{}" });
    expect(answer.status).toBe(409);
    expect(JSON.parse(answer.bytes.toString()).errors[0].code).toBe("state_not_taken");
  });
});
