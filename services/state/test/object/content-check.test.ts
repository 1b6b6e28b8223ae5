import { Readable } from "node:stream";
import { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import { createClient } from "@statehouse/rpc";
import { expect, test } from "vitest";
import { type ContentCheck, checkContents } from "../../content/check-command.ts";
import { contents } from "../../content/store.ts";
import type { WorkspaceId } from "../../ids-domain.ts";
import { newBlobKey } from "../../object/key-domain.ts";
import { onEveryStore, type RunningObjects } from "../running-objects.ts";

const never = new AbortController().signal;

onEveryStore("the check of contents", (objects) => {
  const check = (more: Partial<ContentCheck> = {}) =>
    checkContents({
      rows: contents.reads(objects().state.database),
      store: objects().store,
      readContents: true,
      sweepGraceMs: objects().state.app.settings.sweepGraceMs,
      settlingMs: 10,
      blobDeletionDelayMs: 0,
      interruptions: [],
      now: objects().state.app.now,
      onProgress: () => {},
      signal: never,
      ...more,
    });
  const found = async (more: Partial<ContentCheck> = {}) =>
    (await check(more)).problems.map(({ problem, key }) => [problem, key]);

  /** Creates a version with a raw state and a JSON form; returns the keys of both. */
  async function uploaded({ send, state, ...running }: RunningObjects, workspaceId?: string) {
    const version = await running.pending("state", workspaceId);
    expect((await send(version.raw, "PUT", { body: "state" })).status).toBe(200);
    expect((await send(version.json, "PUT", { body: "{}" })).status).toBe(200);
    const [row] = await state.database.query<{ blob_key: string; json_blob_key: string }>(
      "select blob_key, json_blob_key from state_versions where id = $1",
      [version.id],
    );
    return { id: version.id, raw: row?.blob_key ?? "", json: row?.json_blob_key ?? "" };
  }
  const put = (key: string, bytes: string) =>
    objects().store.put(key, Readable.from([Buffer.from(bytes)]), { size: bytes.length }, never);

  test("finds no problems if everything is consistent, including deleted and shared contents", async () => {
    const { state } = objects();
    const workspaceId = state.lockedWorkspace() as WorkspaceId;
    const first = await uploaded(objects(), workspaceId);
    await state.versions.rollbackStateVersion({ workspaceId, rollbackStateVersionId: first.id });
    const actions = createClient(BackingDataService, state.channel, state.identity);
    await actions.softDeleteBackingData({ stateVersionId: first.id });
    const seen: number[] = [];
    const checked = await check({ onProgress: (versions) => void seen.push(versions) });
    expect(checked).toMatchObject({ versions: 2, contents: 4, bytes: 14, problems: [] });
    expect(seen.reduce((sum, versions) => sum + versions, 0)).toBe(2);
  });

  test.each([
    ["missing bytes", "missing", (key: string) => objects().store.delete([key])],
    ["truncated bytes", "size", (key: string) => put(key, "stat")],
    ["a flipped byte", "content", (key: string) => put(key, "Xtate")],
  ] as const)("finds %s", async (_, problem, damage) => {
    const { raw, id } = await uploaded(objects());
    expect(await found()).toEqual([]);
    await damage(raw);
    expect((await check()).problems).toEqual([
      expect.objectContaining({ problem, key: raw, versionId: id }),
    ]);
    // Flipped bits do not change the size, so only a complete check finds them.
    expect(await found({ readContents: false })).toEqual(
      problem === "content" ? [] : [[problem, raw]],
    );
    await put(raw, "state");
  });

  test("finds a damaged JSON form, and every version that shares damaged bytes", async () => {
    const { state } = objects();
    const workspaceId = state.lockedWorkspace();
    const { json, raw, id } = await uploaded(objects(), workspaceId);
    const rollback = { workspaceId, rollbackStateVersionId: id };
    const copy = (await state.versions.rollbackStateVersion(rollback)).stateVersion?.id ?? "";
    await put(json, "[]");
    expect(await found()).toEqual([
      ["content", json],
      ["content", json],
    ]);
    await put(json, "{}");
    await put(raw, "Xtate");
    const { problems } = await check();
    expect(problems.map(({ versionId }) => versionId).toSorted()).toEqual([id, copy].toSorted());
    await put(raw, "state");
  });

  test("finds bytes without a row that are older than the grace period", async () => {
    const { app } = objects().state;
    const keyOf = (age: number) =>
      newBlobKey({
        workspaceId: "ws-1",
        versionId: "sv-1",
        kind: "raw",
        startedAt: new Date(app.now().getTime() - age),
      });
    const [old, young] = [keyOf(app.settings.sweepGraceMs * 3), keyOf(0)];
    await put(old, "x");
    await put(young, "x");
    await put("somebody/elses", "x");
    const checked = await check();
    expect(checked.problems).toEqual([{ problem: "ownerless", key: old }]);
    expect(checked).toMatchObject({ young: 1, foreign: 1 });
    await objects().store.delete([old, young, "somebody/elses"]);
  });

  test("finds rows that contradict each other", async () => {
    const { database } = objects().state;
    const { raw, json, id } = await uploaded(objects());
    const expectFound = async (sql: string, undo: string, expected: unknown) => {
      await database.query(sql, [raw]);
      const { problems } = await check();
      expect(problems.map(({ problem, detail }) => [problem, detail])).toEqual(expected);
      await database.query(undo, [raw]);
    };
    await expectFound(
      `update blobs set "references" = 2 where key = $1`,
      `update blobs set "references" = 1 where key = $1`,
      [["miscounted", "the row counts 2 references, the check found 1"]],
    );
    await expectFound(
      "update blobs set sha256 = 'x' || sha256 where key = $1",
      "update blobs set sha256 = substr(sha256, 2) where key = $1",
      [["rowDiffers", undefined]],
    );
    await expectFound(
      "update state_versions set md5 = reverse(md5) where blob_key = $1",
      "update state_versions set md5 = reverse(md5) where blob_key = $1",
      [["content", "md5"]],
    );
    const kept = await database.query<Record<string, unknown>>(
      "select * from blobs where key = $1",
      [raw],
    );
    await database.query("delete from blobs where key = $1", [raw]);
    expect((await check()).problems).toEqual([
      expect.objectContaining({ problem: "noRow", key: raw, versionId: id }),
    ]);
    await database.query("insert into blobs select * from json_populate_record(null::blobs, $1)", [
      JSON.stringify(kept[0]),
    ]);
    await database.query("update state_versions set blob_key = null where id = $1", [id]);
    const without = await check();
    expect(without.problems.map(({ problem }) => problem).toSorted()).toEqual([
      "miscounted",
      "noContents",
    ]);
    await database.query("update state_versions set blob_key = $2 where id = $1", [id, raw]);
    expect(await found()).toEqual([]);
    expect(json).not.toBe("");
  });

  test("reports nothing for contents that change during the check", async () => {
    const running = objects();
    const { app, database } = running.state;
    const workspaceId = running.state.lockedWorkspace();
    const going = await uploaded(running, workspaceId);
    const rows = contents.reads(database);
    let meanwhile: (() => Promise<void>) | undefined = async () => {
      // Deletes the contents permanently after the row was read and before the bytes are read.
      await database.query(
        `update state_versions set blob_key = null, json_blob_key = null,
           status = 'backing_data_permanently_deleted' where id = $1`,
        [going.id],
      );
      await database.query("delete from blobs where key = any($1)", [[going.raw, going.json]]);
      await running.store.delete([going.raw, going.json]);
    };
    const leaving = newBlobKey({
      workspaceId: "ws-1",
      versionId: "sv-1",
      kind: "raw",
      startedAt: new Date(app.now().getTime() - app.settings.sweepGraceMs * 3),
    });
    await put(leaving, "x");
    const checked = await check({
      rows: {
        ...rows,
        async listAfter(after: string, limit: number) {
          const answer = await rows.listAfter(after, limit);
          await meanwhile?.();
          meanwhile = undefined;
          return answer;
        },
        async listKnownKeys(keys: readonly string[]) {
          const known = await rows.listKnownKeys(keys);
          await running.store.delete([leaving]);
          return known;
        },
      },
    });
    expect(checked.problems).toEqual([]);
  });
});
