import { needs, ownMinio } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download, upload } from "../stack/http.ts";
import { expectStatus, type StateFile, stateFile } from "../stack/state.ts";
import { eventually, type FaultFixture } from "./fixture.ts";
import { acknowledge, announce, newLockedWorkspace, one, unlock, write } from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const ROOM = 1024 * 1024;

/** Returns a state that does not fit: it is larger than the largest file that a full disk allows here. */
const large = (): StateFile =>
  stateFile({ marker: "x".repeat(3 * ROOM), outputs: { one: { value: 1, type: "number" } } });

function withoutRoom(
  fixture: () => FaultFixture,
  disk: { fill(): Promise<void>; empty(): Promise<void> },
): void {
  test("an upload that does not fit returns 503 and is not stored, other requests succeed, and the same URL works once there is space", async () => {
    proves("Upload/a failed upload leaves the URL usable");
    const { owner, rows } = fixture();
    const kept = await newLockedWorkspace(fixture());
    const { body } = await write(fixture(), kept, one());
    const url: string = body.data.attributes["hosted-state-download-url"];
    const busy = await newLockedWorkspace(fixture());
    const inline = await newLockedWorkspace(fixture());
    const [state, sent] = [large(), large()];
    const version = await announce(fixture(), busy, state);

    await disk.fill();
    const refused = await upload(version.uploadUrl, state.bytes);
    expect([refused.status, refused.body.errors[0].title]).toEqual([503, "service unavailable"]);
    expect((await write(fixture(), inline, sent)).status).toBe(503);
    for (const id of [busy, inline]) {
      // The state is not stored, so no document shows it. The version is pending, so an unlock is refused.
      await expectStatus(404, owner.api.get(`/workspaces/${id}/current-state-version`));
      expect((await unlock(fixture(), id)).status).toBe(503);
    }
    expect((await download(url, owner.token)).status).toBe(200);
    const other = await newLockedWorkspace(fixture());
    expect((await write(fixture(), other, one())).status).toBe(201);
    expect(
      await rows("state", "select from blobs where workspace_id = any($1)", [[busy, inline]]),
    ).toEqual([]);

    await disk.empty();
    await eventually(200, () => upload(version.uploadUrl, state.bytes));
    acknowledge(fixture(), busy, version.id, state);
    await eventually(201, () => write(fixture(), inline, sent));
    for (const id of [busy, inline, kept, other]) {
      expect((await unlock(fixture(), id)).status).toBe(200);
    }
  });
}

describe("a folder on a full disk", () => {
  const fixture = useFaultFixture(() => ({}));
  const again = async (limits: { largestFile?: number }) => {
    const { state } = fixture().stack.processes;
    await state.terminate();
    await state.start(limits);
  };
  withoutRoom(fixture, { fill: () => again({ largestFile: ROOM }), empty: () => again({}) });
});

needs("minio")("a MinIO on a full disk", () => {
  let minio: Awaited<ReturnType<typeof ownMinio>>;
  const fixture = useFaultFixture(async () => {
    minio = await ownMinio();
    return { store: minio };
  });
  const again = async (limits: { largestFile?: number }) => {
    await minio.stop();
    await minio.start(limits);
  };
  withoutRoom(fixture, { fill: () => again({ largestFile: ROOM }), empty: () => again({}) });
});
