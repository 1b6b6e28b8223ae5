import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { connectNats, STREAM } from "@statehouse/events";
import { mentions, waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus } from "../stack/state.ts";
import { type Bus, durables, openBus } from "./bus.ts";
import { endLeases, healAll } from "./fixture.ts";
import {
  forget,
  lock,
  newLockedWorkspace,
  newWorkspace,
  one,
  succession,
  unlock,
  write,
} from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const fixture = useFaultFixture(() => ({}));
let bus: Bus;

beforeAll(async () => {
  const { nats } = fixture().stack;
  bus = await waitFor(() => openBus(nats));
});
afterAll(() => bus?.[Symbol.asyncDispose]());

const services = ["workspaces", "state"] as const;

/** Waits until all states are extracted, and all events are published and processed. */
async function quiet(): Promise<void> {
  await waitFor(async () => {
    const unread = "select from state_versions where extraction_due_at is not null";
    return (await fixture().rows("state", unread)).length === 0;
  });
  for (const service of services) {
    await waitFor(async () => (await fixture().rows(service, "select from outbox")).length === 0);
  }
  await bus.quiet();
}

const outbox = async (service: (typeof services)[number]): Promise<string[]> =>
  (
    await fixture().rows<{ event_id: string }>(service, "select event_id from outbox order by id")
  ).map(({ event_id }) => event_id);

const currentVersion = async (id: string) =>
  (
    await fixture().rows<{ current: string | null }>(
      "workspaces",
      "select current_state_version_id as current from workspaces where id = $1",
      [id],
    )
  )[0]?.current;

describe("while NATS is stopped", () => {
  test.each(["stopped", "killed"])(
    "the API works, and all events are processed later, once and in order: %s",
    async (end) => {
      const { stack, owner } = fixture();
      await quiet();
      const before = await bus.lastSequence();
      const delivered = async () =>
        Promise.all(
          durables.map(async (name) => (await bus.consumer(name)).delivered.consumer_seq),
        );
      const deliveredBefore = await delivered();
      if (end === "stopped") await stack.nats.stop();
      else await stack.nats.kill();

      const ids = await Promise.all([1, 2, 3].map(() => newWorkspace(fixture())));
      for (const id of ids) {
        for (const state of succession(2)) {
          expect((await lock(fixture(), id)).status).toBe(200);
          expect((await write(fixture(), id, state)).status).toBe(201);
          const unlocked = await unlock(fixture(), id);
          // The workspace names the current state version even without the bus, because the state service returns it
          // when it seals the lock.
          expect(unlocked.body.data.relationships["current-state-version"].data.id).toBe(
            (await owner.api.get(`/workspaces/${id}/current-state-version`)).body.data.id,
          );
        }
      }
      const [gone = ""] = ids;
      await expectStatus(204, owner.api.delete(`/workspaces/${gone}`));
      forget(fixture(), gone);
      const readiness = await fetch(
        `http://127.0.0.1:${stack.environments.workspaces.OPS_PORT}/readyz?verbose`,
      );
      expect(readiness.status).toBe(200);
      expect(await readiness.json()).toMatchObject({
        dependencies: { nats: { status: "failed" } },
      });

      const waiting = { workspaces: await outbox("workspaces"), state: await outbox("state") };
      expect(waiting.workspaces.length).toBeGreaterThan(12);
      expect(waiting.state.length).toBeGreaterThan(6);
      await stack.nats.start();
      await quiet();

      const published = await bus.since(before);
      expect(new Set(published.map(({ id }) => id)).size).toBe(published.length);
      for (const service of services) {
        const own = published.filter(
          ({ source }) => source === `urn:statehouse:default/${service}`,
        );
        expect(own.slice(0, waiting[service].length).map(({ id }) => id)).toEqual(waiting[service]);
        for (const id of ids) {
          const revisions = own
            .filter(({ subject }) => subject === id)
            .map(({ revision }) => revision);
          expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
        }
      }
      const received: Record<(typeof durables)[number], RegExp> = {
        "workspaces-workspace-state": /^statehouse\.state\.workspace-state\.changed\./,
        "workspaces-created": /^statehouse\.workspaces\.organization\.created\./,
        "workspaces-updated": /^statehouse\.workspaces\.[\w-]+\.updated\./,
        "workspaces-deleted": /^statehouse\.workspaces\.workspace\.deleted\./,
        "state-updated": /^statehouse\.workspaces\.[\w-]+\.updated\./,
        "state-deleted": /^statehouse\.workspaces\.[\w-]+\.deleted\./,
      };
      const expected = durables.map(
        (name) => published.filter(({ type }) => received[name].test(type)).length,
      );
      const counts = (await delivered()).map(
        (count, index) => count - (deliveredBefore[index] ?? 0),
      );
      expect(counts).toEqual(expected);
    },
  );
});

describe("kill -9 of a relay between publish and delete", () => {
  test.each([
    ["state", "stateToNats", "workspace-state.changed"],
    ["workspaces", "workspacesToNats", "workspace.locked"],
  ] as const)(
    "%s publishes again, and the stream contains the event once",
    async (service, proxy, type) => {
      const { stack, proxies, rows } = fixture();
      const id = await (service === "state"
        ? newLockedWorkspace(fixture())
        : newWorkspace(fixture()));
      await quiet();
      const before = await bus.lastSequence();
      const held = proxies[proxy].hold({
        direction: "answers",
        when: mentions('"stream":"STATEHOUSE"', '"seq"'),
        after: mentions("HPUB", type, id),
      });
      if (service === "state") expect((await write(fixture(), id, one())).status).toBe(201);
      else expect((await lock(fixture(), id)).status).toBe(200);
      await held;
      await stack.processes[service].kill();
      await bus.endAckWaits(service);
      await endLeases(fixture());
      const [published] = (await bus.since(before)).filter(({ type: is }) => is.includes(type));
      expect(published?.subject).toBe(id);
      expect(
        await rows(service, "select from outbox where event_id = $1", [published?.id]),
      ).toHaveLength(1);
      await healAll(fixture());
      await quiet();
      const again = (await bus.since(before)).filter((event) => event.id === published?.id);
      expect(again).toHaveLength(1);
    },
  );

  test("an event that is delivered again after the deduplication window changes nothing", async () => {
    const { stack } = fixture();
    await quiet();
    const before = await bus.lastSequence();
    const id = await newLockedWorkspace(fixture());
    for (const state of succession(2)) expect((await write(fixture(), id, state)).status).toBe(201);
    expect((await unlock(fixture(), id)).status).toBe(200);
    await quiet();
    const current = await currentVersion(id);
    const old = (await bus.since(before)).find(
      ({ type, subject }) => type.includes("workspace-state.changed") && subject === id,
    );
    if (!old) throw new Error("state published no event");
    await using nats = connectNats({ url: stack.nats.url, login: stack.nats.login, name: "test" });
    const copied = headers();
    for (const [name, value] of [
      ["ce-id", old.id],
      ["ce-type", old.type],
      ["ce-subject", old.subject],
      ["ce-sequence", String(old.revision)],
      ["ce-source", old.source],
    ] as const) {
      copied.set(name, value);
    }
    await jetstream(await nats.connection()).publish(old.type, old.data, { headers: copied });
    expect(await bus.lastSequence()).toBeGreaterThan(old.seq);
    await bus.quiet();
    expect(await currentVersion(id)).toBe(current);
  });
});

test("a bus that has lost its data is set up again, and events are delivered", async () => {
  const { owner } = fixture();
  await quiet();
  await bus.manager.streams.delete(STREAM);
  const id = await newLockedWorkspace(fixture());
  expect((await write(fixture(), id, one())).status).toBe(201);
  const doomed = await newWorkspace(fixture());
  await expectStatus(204, owner.api.delete(`/workspaces/${doomed}`));
  const next = await newLockedWorkspace(fixture());
  const written = await write(fixture(), next, one());
  await quiet();
  await waitFor(async () => (await currentVersion(next)) === written.body.data.id);
  expect((await bus.since(0)).length).toBeGreaterThan(0);
});

test("kill -9 of a consumer between its transaction and its acknowledgement: the event is received again and applied once", async () => {
  const { stack, proxies } = fixture();
  const id = await newLockedWorkspace(fixture());
  await quiet();
  const held = proxies.workspacesToNats.hold({
    direction: "requests",
    when: mentions("$JS.ACK.STATEHOUSE.workspaces-workspace-state"),
  });
  const written = await write(fixture(), id, one());
  await held;
  expect(await currentVersion(id)).toBe(written.body.data.id);
  await stack.processes.workspaces.kill();
  const { num_ack_pending } = await bus.consumer("workspaces-workspace-state");
  // The event that follows the unacknowledged one may also have been delivered before the crash.
  expect(num_ack_pending).toBeGreaterThanOrEqual(1);
  await bus.endAckWaits("workspaces");
  await healAll(fixture());
  await quiet();
  const { num_redelivered } = await bus.consumer("workspaces-workspace-state");
  expect(num_redelivered).toBe(0);
  expect(await currentVersion(id)).toBe(written.body.data.id);
});
