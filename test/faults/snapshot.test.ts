import { setTimeout as sleep } from "node:timers/promises";
import { STREAM } from "@statehouse/events";
import {
  type Checkpoint,
  type CheckpointStore,
  connectNats,
  type Event,
  on,
  subscribe,
} from "@statehouse/events/subscribe";
import {
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger } from "@statehouse/runtime";
import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { seededRandom } from "../stack/seeded-random.ts";
import { startStack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { type Fixture, newWorkspace, useStack } from "../system/fixture.ts";
import { openBus } from "./bus.ts";

const filter = "statehouse.workspaces.workspace.>";
const fixture = useStack(() => startStack());

interface Row {
  name: string;
  nameRevision: number;
  holder: string;
  lockRevision: number;
  deletedRevision: number;
  /** The number of the last event that concerned this row, counted over all events that this copy has handled. */
  seen: number;
}

/**
 * A copy of all workspaces, in the form in which a subscriber stores them. Each part of a row has the revision of the
 * event that set it last.
 */
class Copy {
  readonly rows = new Map<string, Row>();
  readonly applied: string[] = [];
  snapshots = 0;
  checkpoint: Checkpoint | undefined;
  #count = 0;

  readonly store: CheckpointStore = {
    load: async () => this.checkpoint,
    save: async (checkpoint) => {
      this.checkpoint = checkpoint;
    },
  };

  async begin(): Promise<() => Promise<void>> {
    this.snapshots += 1;
    const began = this.#count;
    return async () => {
      for (const [id, row] of this.rows) {
        if (row.seen <= began && row.deletedRevision === 0) this.rows.delete(id);
      }
    };
  }

  #row(id: string): Row {
    const row = this.rows.get(id) ?? {
      ...{ name: "", nameRevision: 0, holder: "", lockRevision: 0, deletedRevision: 0, seen: 0 },
    };
    this.rows.set(id, row);
    this.#count += 1;
    row.seen = this.#count;
    return row;
  }

  #apply(id: string, field: "nameRevision" | "lockRevision" | "deletedRevision", event: Event) {
    const row = this.#row(id);
    if (event.revision <= row[field] || event.revision <= row.deletedRevision) return undefined;
    row[field] = event.revision;
    this.applied.push(`${id} ${field} ${event.revision}`);
    return row;
  }

  setName(id: string, name: string, event: Event): void {
    const row = this.#apply(id, "nameRevision", event);
    if (row) row.name = name;
  }

  setHolder(id: string, holder: string, event: Event): void {
    const row = this.#apply(id, "lockRevision", event);
    if (row) row.holder = holder;
  }

  remove(id: string, event: Event): void {
    this.#apply(id, "deletedRevision", event);
  }

  /** The workspaces of the copy, by id. */
  current(): Record<string, string> {
    return Object.fromEntries(
      [...this.rows]
        .filter(([, row]) => row.deletedRevision === 0)
        .map(([id, { name, holder }]) => [id, `${name} ${holder}`])
        .toSorted(),
    );
  }
}

/**
 * Starts a replica of a subscriber that stores its data in `copy`. A handler throws an error if `failing` returns true.
 */
function start(durable: string, copy: Copy, failing: () => boolean = () => false) {
  const { stack } = fixture();
  const nats = connectNats({ url: stack.nats.url, login: stack.nats.login, name: durable });
  const unlessFailing = (apply: () => void) => {
    if (failing()) throw new Error("the handler failed");
    apply();
  };
  const subscription = subscribe({
    ...{ nats, durable, filter },
    logger: createLogger({ service: "test", level: "silent" }),
    isTransient: () => true,
    deadLetter: async () => {
      throw new Error("no event may become a dead letter");
    },
    snapshot: {
      checkpoint: copy.store,
      begin: () => copy.begin(),
      compareEveryMs: 100,
    },
    handlers: {
      ...on(WorkspaceCreatedSchema, async ({ workspaceId, name }, event) =>
        unlessFailing(() => copy.setName(workspaceId, name, event)),
      ),
      ...on(WorkspaceUpdatedSchema, async ({ workspaceId, name }, event) =>
        unlessFailing(() => copy.setName(workspaceId, name, event)),
      ),
      ...on(WorkspaceLockedSchema, async ({ workspaceId, holderId }, event) =>
        unlessFailing(() => copy.setHolder(workspaceId, holderId, event)),
      ),
      ...on(WorkspaceUnlockedSchema, async ({ workspaceId }, event) =>
        unlessFailing(() => copy.setHolder(workspaceId, "", event)),
      ),
      ...on(WorkspaceDeletedSchema, async ({ workspaceId }, event) =>
        unlessFailing(() => copy.remove(workspaceId, event)),
      ),
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      await subscription[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    },
  };
}

async function truth(): Promise<Record<string, string>> {
  const rows = await fixture().stack.rows<{ id: string; text: string }>(
    "workspaces",
    `select id, name || ' ' || coalesce(lock_holder_id, '') as text from workspaces`,
  );
  return Object.fromEntries(rows.map(({ id, text }): [string, string] => [id, text]).toSorted());
}

/** Makes one random change. */
async function change({ owner }: Fixture, ids: string[], random: () => number): Promise<void> {
  const at = Math.floor(random() * ids.length);
  const id = ids[at];
  const kind = random();
  if (id === undefined || kind < 0.3) ids.push((await newWorkspace(fixture())).id);
  else if (kind < 0.5) {
    const attributes = { name: `renamed-${id}-${Math.floor(random() * 1e6)}` };
    await expectStatus(
      200,
      owner.api.patch(`/workspaces/${id}`, document("workspaces", attributes)),
    );
  } else if (kind < 0.7) await owner.api.post(`/workspaces/${id}/actions/lock`);
  else if (kind < 0.85) await owner.api.post(`/workspaces/${id}/actions/unlock`);
  else {
    await owner.api.delete(`/workspaces/${id}`);
    ids.splice(at, 1);
  }
}

/** The seed of the random history. The message of a failure contains it. */
const seed = Number(process.env.STATEHOUSE_SNAPSHOT_SEED ?? "20251122");

test(`three subscribers that start at random moments end equal to the database, although the stream was deleted (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  // A separate sequence of random numbers, because the number of handler calls differs from run to run.
  const failures = seededRandom(seed + 1);
  await using bus = await waitFor(() => openBus(fixture().stack.nats));
  await using stack = new AsyncDisposableStack();
  const copies = [new Copy(), new Copy(), new Copy()];
  const steps = 60;
  const starts = copies.map(() => Math.floor(random() * (steps - 10)));
  const deletedAt = 15 + Math.floor(random() * (steps - 30));
  const ids: string[] = [];
  for (let step = 0; step < steps; step++) {
    for (const [index, copy] of copies.entries()) {
      if (starts[index] !== step) continue;
      const failing = () => failures() < 0.1;
      stack.use(start(`copy-${index}`, copy, failing));
      // Two replicas share the events of the first subscriber.
      if (index === 0) stack.use(start(`copy-${index}`, copy, failing));
    }
    if (step === deletedAt) await bus.manager.streams.delete(STREAM);
    await change(fixture(), ids, random);
    await sleep(random() * 20);
  }
  const expected = await truth();
  for (const [index, copy] of copies.entries()) {
    await waitFor(() => JSON.stringify(copy.current()) === JSON.stringify(expected), {
      what: `copy ${index} with seed ${seed}`,
    });
    // No event was applied twice.
    expect(new Set(copy.applied).size).toBe(copy.applied.length);
    expect(copy.snapshots).toBeGreaterThan(0);
  }
});

test("a subscriber that was stopped while its events expired takes a new snapshot, and otherwise continues", async () => {
  await using bus = await waitFor(() => openBus(fixture().stack.nats));
  const copy = new Copy();
  const durable = "expired";
  const equal = async () => {
    const expected = JSON.stringify(await truth());
    await waitFor(() => JSON.stringify(copy.current()) === expected, { what: "an equal copy" });
  };
  const { id } = await newWorkspace(fixture());
  {
    await using _running = start(durable, copy);
    await equal();
    expect(copy.rows.get(id)).toBeDefined();
    const last = await bus.lastSequence();
    await waitFor(() => (copy.checkpoint?.position ?? 0) >= last);
  }
  const { id: kept } = await newWorkspace(fixture());
  {
    await using _running = start(durable, copy);
    await equal();
    const last = await bus.lastSequence();
    await waitFor(() => (copy.checkpoint?.position ?? 0) >= last);
    expect(copy.snapshots).toBe(1);
  }
  // The stopped subscriber never receives the event of this deletion.
  await expectStatus(204, fixture().owner.api.delete(`/workspaces/${kept}`));
  const published = async () => {
    const rows = await fixture().stack.rows("workspaces", "select from outbox");
    return rows.length === 0;
  };
  await waitFor(published);
  await bus.manager.streams.purge(STREAM);
  {
    await using _running = start(durable, copy);
    await equal();
    expect(copy.snapshots).toBe(2);
    expect(copy.rows.has(kept)).toBe(false);
  }
});
