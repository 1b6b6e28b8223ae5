import { mentions, needs, ownMinio, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeEach, expect, test } from "vitest";
import { download, upload } from "../stack/http.ts";
import { announcement, expectStatus } from "../stack/state.ts";
import { eventually } from "./fixture.ts";
import {
  acknowledge,
  announce,
  attempted,
  forget,
  lock,
  newLockedWorkspace,
  newWorkspace,
  one,
  unlock,
  write,
} from "./steps.ts";
import { useFaultFixtureOn } from "./use-fixture.ts";

needs("minio")("while MinIO is stopped", () => {
  const { fixture, part: store } = useFaultFixtureOn(ownMinio, (minio) => ({
    store: minio,
    settings: { REQUEST_TIMEOUT: "10" },
  }));
  beforeEach(() => store().start());

  const stateReady = async () => {
    const answer = await fetch(
      `http://127.0.0.1:${fixture().stack.environments.state.OPS_PORT}/readyz?verbose`,
    );
    return { status: answer.status, body: await answer.json() };
  };

  test.each(["stopped", "killed"])(
    "%s: uploads and downloads return 5xx, never 404, and the same URL works afterwards",
    async (end) => {
      proves(
        "Upload/a failed upload leaves the URL usable",
        'State errors/a storage error is 5xx, never "no state"',
      );
      const { owner } = fixture();
      const kept = await newLockedWorkspace(fixture());
      const written = await write(fixture(), kept, one());
      const url: string = written.body.data.attributes["hosted-state-download-url"];
      const busy = await newLockedWorkspace(fixture());
      const state = one();
      const version = await announce(fixture(), busy, state);
      const inline = await newLockedWorkspace(fixture());
      const sent = one();

      await (end === "stopped" ? store().stop() : store().kill());
      expect((await download(url, owner.token)).status).toBe(503);
      expect((await upload(version.uploadUrl, state.bytes)).status).toBe(503);
      expect((await write(fixture(), inline, sent)).status).toBe(503);
      expect((await upload(version.uploadUrl, state.bytes)).status).toBe(503);
      // The documents of the stored state can still be read, because they do not need the store.
      await expectStatus(200, owner.api.get(`/workspaces/${kept}/current-state-version`));
      await expectStatus(200, owner.api.get(`/state-versions/${written.body.data.id}`));
      // The version that waits for its bytes still exists, and an unlock is refused because of it.
      expect((await unlock(fixture(), busy)).status).toBe(503);
      expect(await stateReady()).toMatchObject({
        status: 200,
        body: { dependencies: { blobs: { status: "failed" }, database: { status: "ok" } } },
      });

      await store().start();
      await eventually(200, () => upload(version.uploadUrl, state.bytes));
      acknowledge(fixture(), busy, version.id, state);
      await eventually(201, () => write(fixture(), inline, sent));
      expect((await download(url, owner.token)).status).toBe(200);
      for (const id of [kept, busy, inline]) expect((await unlock(fixture(), id)).status).toBe(200);
    },
  );

  test("locking, unlocking, force-unlocking and deleting work without the store", async () => {
    const { owner } = fixture();
    const id = await newLockedWorkspace(fixture());
    expect((await write(fixture(), id, one())).status).toBe(201);
    const doomed = await newLockedWorkspace(fixture());
    expect((await write(fixture(), doomed, one())).status).toBe(201);
    await store().stop();
    const other = await newWorkspace(fixture());
    for (const workspace of [id, other]) {
      if (workspace === other) expect((await lock(fixture(), workspace)).status).toBe(200);
      expect((await unlock(fixture(), workspace)).status).toBe(200);
      expect((await lock(fixture(), workspace)).status).toBe(200);
    }
    await expectStatus(
      201,
      owner.api.post(`/workspaces/${other}/state-versions`, announcement(one())),
    );
    expect((await owner.api.post(`/workspaces/${other}/actions/force-unlock`)).status).toBe(200);
    forget(fixture(), doomed);
    expect((await owner.api.delete(`/workspaces/${doomed}`)).status).toBe(204);
    await store().start();
  });

  test("while MinIO does not respond, inline uploads time out, other requests succeed, and late bytes are stored once", async () => {
    const { proxies, rows } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    proxies.stateToStore.freeze();
    const response = write(fixture(), id, state);
    const other = await newLockedWorkspace(fixture());
    expect((await unlock(fixture(), other)).status).toBe(200);
    expect([503, 504]).toContain((await response).status);
    proxies.stateToStore.release();
    await eventually(201, () => write(fixture(), id, state));
    expect(
      await rows("state", "select from state_versions where workspace_id = $1", [id]),
    ).toHaveLength(1);
  });

  test("an upload during which MinIO stops fails, and a repeated upload succeeds", async () => {
    const { proxies } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const version = await announce(fixture(), id, state);
    const held = proxies.stateToStore.hold({
      direction: "requests",
      when: mentions("PUT /", version.id),
    });
    const first = attempted(upload(version.uploadUrl, state.bytes));
    await held;
    await store().kill();
    proxies.stateToStore.partition();
    expect((await first)?.status).toBe(503);
    proxies.stateToStore.heal();
    await store().start();
    await eventually(200, () => upload(version.uploadUrl, state.bytes));
    acknowledge(fixture(), id, version.id, state);
  });

  test("a state service that starts without MinIO uses it once it is available", async () => {
    const { stack, owner } = fixture();
    const id = await newLockedWorkspace(fixture());
    const written = await write(fixture(), id, one());
    const url: string = written.body.data.attributes["hosted-state-download-url"];
    await store().stop();
    await stack.processes.state.kill();
    await stack.processes.state.start();
    expect((await download(url, owner.token)).status).toBe(503);
    await eventually(200, () => unlock(fixture(), id));
    await store().start();
    await waitFor(async () => (await download(url, owner.token)).status === 200);
  });
});
