import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectEverything, collectNextPage } from "../retention/scan-app.ts";
import { age, gone, statuses, written } from "./retained.ts";
import { type RunningState, runState } from "./running-state.ts";

let state: RunningState;
beforeAll(async () => {
  state = await runState();
});
afterAll(() => state[Symbol.asyncDispose]());

test("a scan runs page by page with one holder at a time, and another replica continues after a crash", async () => {
  await using own = await runState();
  const { workspaceId, ids } = await written(own, 2);
  await age(own, ids, 31);
  own.fakes.retain(workspaceId, { days: 30 });
  const crashed = await own.app.leases.scans.claim("retention", {
    holder: "died",
    now: own.app.now(),
    until: new Date(own.app.now().getTime() + 60_000),
  });
  expect(crashed).toMatchObject({ after: "" });
  const nothing = () => {};
  expect(await collectNextPage(own.app, nothing)).toBe(false);
  own.pass(61_000);
  expect(await collectNextPage(own.app, nothing)).toBe(true);
  expect(await statuses(own, workspaceId)).toEqual([gone, "finalized"]);
  expect(await own.app.reads.scans.getProgress("retention")).toMatchObject({
    seen: 1,
    found: 1,
    bytes: 7,
  });
  expect(
    await own.app.leases.scans.renew(
      crashed ?? { name: "retention", holder: "", after: "" },
      new Date(),
    ),
  ).toBe(false);
  expect(await collectNextPage(own.app, nothing)).toBe(false);
  own.pass(3600_000);
  expect(await collectNextPage(own.app, nothing)).toBe(true);
});

test("a slow holder whose page was taken over stops after its batch", async () => {
  proves("Data retention/in batches, resumable, by any number of replicas");
  await using own = await runState();
  const { workspaceId, ids } = await written(own, 2);
  await age(own, ids, 31);
  own.fakes.retain(workspaceId, { days: 30 });
  const lease = { holder: "quicker", until: new Date(Date.now() + 3600_000) };
  const slow = collectNextPage(own.app, async () => {
    own.pass(61_000);
    const taken = await own.app.leases.scans.claim("retention", { ...lease, now: own.app.now() });
    expect(taken).toMatchObject({ after: "" });
  });
  await expect(slow).rejects.toThrow("another replica holds the page");
  const slower = { name: "retention", holder: "slower", after: "" } as const;
  const done = { seen: 7, found: 7, bytes: 7 };
  const { scans } = own.app.leases;
  const now = own.app.now();
  await scans.end(slower, { after: "ws-z", now, dueAt: now }, done);
  await scans.end(slower, { after: "", now, dueAt: now }, done);
  await scans.release(slower, now);
  expect(await own.app.reads.scans.getProgress("retention")).toMatchObject({
    seen: 0,
    finishedAt: null,
  });
  expect(await collectNextPage(own.app, () => {})).toBe(false);
});

test("while the workspaces service does not respond, nothing is deleted and the page is repeated", async () => {
  proves("Data retention/don't-delete, no policy, no answer");
  await using own = await runState();
  const { workspaceId, ids } = await written(own, 2);
  await age(own, ids, 31);
  own.fakes.retain(workspaceId, { days: 30 });
  own.fakes.meanwhile(() => Promise.reject(new Error("unavailable")));
  await expect(collectNextPage(own.app, () => {})).rejects.toThrow();
  expect(await statuses(own, workspaceId)).toEqual(["finalized", "finalized"]);
  own.pass(31_000);
  expect(await collectNextPage(own.app, () => {})).toBe(true);
  expect(await statuses(own, workspaceId)).toEqual([gone, "finalized"]);
});

test("the command scans all workspaces, even if replicas hold pages", async () => {
  const { workspaceId, ids } = await written(state, 2);
  await age(state, ids, 31);
  state.fakes.retain(workspaceId, { days: 30 });
  const seen: string[] = [];
  await collectEverything(state.app, {
    dryRun: true,
    onBatch: (batch) => void seen.push(...batch.map(({ id }) => id)),
  });
  expect(seen).toContain(ids[0]);
});
