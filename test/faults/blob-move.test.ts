import { spawn } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  childEnvironment,
  type FreshBucket,
  freshBucket,
  needs,
  sharedDependencies,
  startFaultProxy,
  waitFor,
} from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { download } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { storeView } from "../stack/store.ts";
import { expectWhole } from "./check.ts";
import { type FaultFixture, healAll, s3Settings, startFaultFixture } from "./fixture.ts";
import { forget, newLockedWorkspace, one, succession, unlock, write } from "./steps.ts";

const STATES = 8;

needs("minio")("moving states from a folder to MinIO", () => {
  vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });
  let fixture: FaultFixture;
  let bucket: FreshBucket;
  let stack: AsyncDisposableStack;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    fixture = stack.use(await startFaultFixture({}));
    bucket = stack.use(await freshBucket());
    for (let index = 0; index < STATES; index++) {
      const id = await newLockedWorkspace(fixture);
      expect((await write(fixture, id, one())).status).toBe(201);
      expect((await unlock(fixture, id)).status).toBe(200);
    }
  });
  afterEach(() => stack.disposeAsync());

  /** The operator's first step: changes the settings so that the state service uses both stores. */
  const beginMove = async () => {
    const { state } = fixture.stack.environments;
    const folder = state.BLOB_DIRECTORY ?? "";
    Object.assign(state, s3Settings(bucket), { BLOB_MOVING_FROM: folder });
    await restart();
    return path.join(folder, "blobs");
  };
  const endMove = async () => {
    const { state } = fixture.stack.environments;
    delete state.BLOB_MOVING_FROM;
    delete state.BLOB_DIRECTORY;
    await restart();
  };
  const restart = async () => {
    await fixture.stack.processes.state.terminate();
    await healAll(fixture);
  };
  const inBucket = () => storeView(fixture.stack.environments.state).keys();

  /** Runs the command `move-blobs` as a separate process. */
  const startCommand = (settings: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [sharedDependencies().program, "move-blobs"], {
      env: childEnvironment({ ...fixture.stack.environments.state, ...settings }),
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text) => (output += text));
    const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
      child.once("close", (code) => resolve({ code, output }));
    });
    return { ended, kill: () => child.kill("SIGKILL") };
  };

  /** Writes and reads as a user until `stop` is aborted. None of these requests may fail. */
  const busyClient = async (stop: AbortSignal) => {
    const id = await newLockedWorkspace(fixture);
    let written = 0;
    for (const state of succession(1000)) {
      if (stop.aborted) break;
      const { body } = await expectStatus(201, write(fixture, id, state));
      const url: string = body.data.attributes["hosted-state-download-url"];
      expect((await download(url, fixture.owner.token)).bytes.equals(state.bytes)).toBe(true);
      // Skips the state of the first workspace, because the test deletes that workspace.
      await readOne(1 + (written++ % (STATES - 1)));
    }
    expect((await unlock(fixture, id)).status).toBe(200);
    return written;
  };
  const readOne = async (index: number) => {
    const [id, { bytes }] = [...fixture.acknowledged].at(index % STATES) ?? ["", { bytes: "" }];
    const { body } = await expectStatus(200, fixture.owner.api.get(`/state-versions/${id}`));
    const kept = await download(
      body.data.attributes["hosted-state-download-url"],
      fixture.owner.token,
    );
    expect([kept.status, kept.bytes.equals(Buffer.from(bytes))]).toEqual([200, true]);
  };

  test("a killed move continues where it stopped while clients write and read", async () => {
    proves("Object store/moving from a folder to MinIO");
    await beginMove();
    const stop = new AbortController();
    const clients = [busyClient(stop.signal), busyClient(stop.signal)];
    const proxy = stack.use(await startFaultProxy(Number(new URL(bucket.endpoint).port)));
    let puts = 0;
    const held = proxy.hold({
      direction: "requests",
      when: (piece) => piece.includes("PUT /") && piece.includes("/ws-") && ++puts === STATES / 2,
    });
    const first = startCommand({ S3_ENDPOINT: `http://127.0.0.1:${proxy.port}` });
    await Promise.race([held, first.ended]);
    first.kill();
    expect(await first.ended).toMatchObject({ code: null });

    const [kept] = fixture.acknowledged;
    if (!kept) throw new Error("nothing was written");
    forget(fixture, kept[1].workspaceId);
    const doomed = `/workspaces/${kept[1].workspaceId}`;
    await expectStatus(204, fixture.owner.api.delete(doomed));
    const { code, output } = await startCommand().ended;
    expect([code, output]).toEqual([0, expect.stringContaining("all contents are moved")]);
    stop.abort();
    for (const written of await Promise.all(clients)) expect(written).toBeGreaterThan(0);
    await endMove();
    await expectWhole({ ...fixture, store: storeView(fixture.stack.environments.state) });
  });

  test("damaged blobs are reported and stay in place; all others are moved", async () => {
    proves("Object store/moving from a folder to MinIO");
    const folder = await beginMove();
    const [row] = await fixture.rows<{ key: string }>("state", "select key from blobs limit 1");
    const key = row?.key ?? "";
    const index = [...fixture.acknowledged.keys()].findIndex((id) => key.includes(id));
    const bytes = [...fixture.acknowledged.values()].at(index)?.bytes ?? Buffer.alloc(0);
    const file = path.join(folder, (await shardOf(folder, key)) ?? "", key);
    await writeFile(file, Buffer.alloc(bytes.length));
    const damaged = await startCommand().ended;
    expect(damaged.code).toBe(1);
    expect(damaged.output.match(/^(damaged|lost): .*$/gm)).toEqual([`damaged: ${key}`]);
    const keys = await fixture.rows<{ key: string }>("state", "select key from blobs order by key");
    expect(await inBucket()).toEqual(
      keys
        .map((one) => one.key)
        .filter((one) => one !== key)
        .sort(),
    );

    // Restores the damaged bytes, as from a backup.
    await writeFile(file, bytes);
    await readOne(index);
    expect(await startCommand().ended).toMatchObject({ code: 0 });
    await endMove();
    await expectWhole({ ...fixture, store: storeView(fixture.stack.environments.state) });
  });

  test("an unusable store is reported in one sentence", async () => {
    await beginMove();
    const { code, output } = await startCommand({ S3_SECRET_KEY: "wrong" }).ended;
    expect([code, output]).toEqual([
      1,
      `${bucket.endpoint} refuses S3_ACCESS_KEY and S3_SECRET_KEY: one of them is wrong.\n`,
    ]);
    const nowhere = await startCommand({ BLOB_MOVING_FROM: "/nowhere" }).ended;
    expect(nowhere.code).toBe(1);
    expect(nowhere.output).toMatch(/^Cannot keep state contents in \/nowhere: .*\n$/);
    await waitFor(async () => (await inBucket()).length === 0);
  });
});

async function shardOf(folder: string, key: string): Promise<string | undefined> {
  const [workspace = ""] = key.split("/");
  for (const shard of await readdir(folder)) {
    if ((await readdir(path.join(folder, shard))).includes(workspace)) return shard;
  }
  return undefined;
}
