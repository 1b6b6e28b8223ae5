import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { STREAM } from "@statehouse/events";
import { needs, ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { beforeAll, expect, test } from "vitest";
import { openBus } from "../faults/bus.ts";
import { document } from "../stack/http.ts";
import { startStack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { newLockedWorkspace, newWorkspace, useStack } from "../system/fixture.ts";
import {
  buildDrivers,
  type Language,
  type Line,
  languages,
  type RunningDriver,
  startDriver,
  waitForDriver,
} from "./drivers.ts";
import { tableOf, workspaceEvents } from "./workspace-copy.ts";

/** Time limit for downloading and compiling the packages, which is necessary once on each machine. */
const BUILD_MS = 600_000;
const filter = "statehouse.workspaces.workspace.>";
const { created, updated, locked, deleted } = workspaceEvents;

const snapshotsOf = (lines: readonly Line[]) => lines.flatMap(({ snapshot }) => snapshot ?? []);

needs(
  "nats-server",
  "go",
  "python client",
)("snapshots of the packages of all languages", () => {
  let commands: Awaited<ReturnType<typeof buildDrivers>>;
  let folder = "";
  beforeAll(async () => {
    const built = await temporaryFolder();
    folder = built.path;
    commands = await buildDrivers(built.path);
    return () => built[Symbol.asyncDispose]();
  }, BUILD_MS);
  const fixture = useStack(() => startStack());

  const checkpointOf = (language: Language) => path.join(folder, `${language}.checkpoint`);

  function start(language: Language, nats = fixture().stack.nats): RunningDriver {
    return startDriver(language, commands[language], {
      ...{ url: nats.url, login: nats.login, durable: language, filter },
      ...{ handled: [created, updated, locked, deleted], deadLetters: path.join(folder, language) },
      snapshot: { checkpoint: checkpointOf(language) },
    });
  }

  async function truth(): Promise<Record<string, string>> {
    const rows = await fixture().stack.rows<{ id: string; text: string }>(
      "workspaces",
      "select id, name || ' ' || coalesce(lock_holder_id, '') as text from workspaces",
    );
    return Object.fromEntries(rows.map(({ id, text }): [string, string] => [id, text]).toSorted());
  }

  const published = () =>
    waitFor(
      async () => (await fixture().stack.rows("workspaces", "select from outbox")).length === 0,
    );

  const rename = (id: string, name: string) =>
    expectStatus(
      200,
      fixture().owner.api.patch(`/workspaces/${id}`, document("workspaces", { name })),
    );
  const remove = (id: string) => expectStatus(204, fixture().owner.api.delete(`/workspaces/${id}`));

  async function equal(drivers: readonly RunningDriver[]): Promise<void> {
    const expected = await truth();
    for (const driver of drivers) {
      await waitForDriver(
        driver,
        () => JSON.stringify(tableOf(driver.lines())) === JSON.stringify(expected),
      );
      // A deletion takes precedence over an older listed object, and a newer event over an older one, in whichever
      // order they are handled.
      const lines = driver.lines();
      const begin = lines.findLastIndex(({ snapshot }) => snapshot === "begins");
      const since = lines.slice(Math.max(begin, 0)).filter(({ handled }) => handled !== undefined);
      if (begin >= 0) expect(tableOf(since.toReversed()), driver.language).toEqual(expected);
    }
  }

  const stop = (drivers: readonly RunningDriver[]) =>
    Promise.all(
      drivers.map(async (driver) => {
        driver.kill("SIGTERM");
        expect(await driver.exit, JSON.stringify(driver.lines())).toBe(0);
      }),
    );

  test("what exists arrives first, then the stream without a gap, and again after the stream was deleted", async () => {
    await using bus = await waitFor(() => openBus(fixture().stack.nats));
    await using stack = new AsyncDisposableStack();
    const startAll = () => languages.map((language) => stack.use(start(language)));
    const gone = (await newWorkspace(fixture())).id;
    await remove(gone);
    const kept = (await newWorkspace(fixture())).id;
    const held = (await newLockedWorkspace(fixture())).id;
    const removed = (await newWorkspace(fixture())).id;
    await published();
    // Purges all events from the stream, so that their objects can reach the subscribers only through the listing.
    await bus.manager.streams.purge(STREAM);

    const first = startAll();
    // Makes changes before, during and after the snapshot.
    for (let index = 0; index < 10; index++) {
      await newWorkspace(fixture());
      await rename(kept, `renamed-${index}`);
    }
    await remove(removed);
    await equal(first);
    for (const driver of first) {
      const lines = driver.lines();
      const complete = lines.findIndex(({ snapshot }) => snapshot === "complete");
      expect(snapshotsOf(lines), driver.language).toEqual(["begins", "complete"]);
      const events = lines.flatMap(({ handled, isListed, subject, type }, at) =>
        handled === undefined ? [] : { isListed, isBefore: at < complete, subject, type },
      );
      for (const { isListed, isBefore } of events) expect(isListed === true).toBe(isBefore);
      const listed = events.filter(({ isListed }) => isListed);
      expect(listed.map(({ subject }) => subject)).not.toContain(gone);
      expect(listed.map(({ subject }) => subject)).toContain(kept);
      expect(listed.filter(({ subject }) => subject === held).map(({ type }) => type)).toEqual([
        created,
        locked,
      ]);
    }

    // Waits until every subscriber's checkpoint has reached the end of the stream. A restart then needs no snapshot.
    const last = await bus.lastSequence();
    for (const driver of first) {
      await waitForDriver(driver, async () => {
        const text = await readFile(checkpointOf(driver.language), "utf8");
        return JSON.parse(text).position >= last;
      });
      const { mode } = await stat(checkpointOf(driver.language));
      expect(mode & 0o777, driver.language).toBe(0o600);
    }
    await stop(first);
    const { id: next } = await newWorkspace(fixture());
    const second = startAll();
    for (const driver of second) {
      await waitForDriver(driver, () => driver.lines().some(({ subject }) => subject === next));
      expect(snapshotsOf(driver.lines()), driver.language).toEqual([]);
      expect(driver.handled()).toHaveLength(1);
    }

    // The stream is deleted while the subscribers run.
    await bus.manager.streams.delete(STREAM);
    await rename(kept, "renamed-again");
    for (const driver of second) {
      await waitForDriver(driver, () => snapshotsOf(driver.lines()).includes("complete"));
    }
    await newWorkspace(fixture());
    await equal(second);
    await stop(second);

    // The stopped subscribers never receive the deletion of `next`: the stream is deleted before they start again.
    await remove(next);
    await published();
    await bus.manager.streams.delete(STREAM);
    await newWorkspace(fixture());
    const third = startAll();
    await equal(third);
    for (const driver of third) {
      const before = second.find(({ language }) => language === driver.language)?.lines() ?? [];
      expect(snapshotsOf(driver.lines())[0], driver.language).toBe("begins");
      expect(tableOf(before)).toHaveProperty([next]);
      // At first, the table contains the rows that the previous process has stored. At the end of the snapshot, the
      // rows of deleted workspaces are removed from the table.
      expect(tableOf([...before, ...driver.lines()])).toEqual(await truth());
    }
    await stop(third);
  });

  test("a login that does not reach the listing is named in the log", async () => {
    await using stack = new AsyncDisposableStack();
    const other = stack.use(await ownNats());
    for (const driver of languages.map((language) => stack.use(start(language, other)))) {
      await waitForDriver(driver, () =>
        /listing cannot be reached at statehouse-listing\.stream/.test(driver.errors()),
      );
      expect(driver.handled()).toEqual([]);
      expect(snapshotsOf(driver.lines())).toEqual([]);
    }
  });
});
