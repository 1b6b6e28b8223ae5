import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { writeDurably } from "./durable-file.ts";
import type { Event } from "./event.ts";
import { createListingClient, type StreamState } from "./listing-client.ts";
import type { Nats } from "./nats.ts";

/** The position in a stream up to which a subscriber has received everything. */
export interface Checkpoint {
  /** The creation time of the stream, which identifies it. */
  created: string;
  /** Every event up to this sequence number was handled, or is contained in the snapshot. */
  position: number;
}

/**
 * Stores a subscriber's checkpoint. The checkpoint must be stored in the same place as the subscriber's data, so that a
 * loss affects both.
 */
export interface CheckpointStore {
  load(): Promise<Checkpoint | undefined>;
  save(checkpoint: Checkpoint): Promise<void>;
}

export interface SnapshotOptions {
  checkpoint: CheckpointStore;
  /**
   * Called before the first event of a snapshot. The function that it returns is called after the last event. That
   * function must delete all of the subscriber's objects that were neither in an event of this snapshot nor changed by
   * an event after `begin` was called.
   */
  begin(): Promise<() => Promise<void>>;
  /** The interval in ms at which the position of the stream is compared with the checkpoint. Default: 30 seconds. */
  compareEveryMs?: number;
}

interface Context {
  nats: Nats;
  filter: string;
  handle: (event: Event) => Promise<void>;
  log: (about: Record<string, unknown>, message: string) => void;
}

/** Returns whether the stream has every event after the checkpoint. */
const continues = (checkpoint: Checkpoint | undefined, stream: StreamState): boolean =>
  checkpoint !== undefined &&
  checkpoint.created === stream.created &&
  stream.firstSequence <= checkpoint.position + 1;

/** Decides whether a snapshot is necessary, and takes it. */
export function createSnapshots(
  { checkpoint: store, begin }: SnapshotOptions,
  { nats, filter, handle, log }: Context,
) {
  const client = createListingClient(nats);
  let previous: StreamState | undefined;
  return {
    /**
     * Takes a snapshot if there is no checkpoint, or if the current stream does not contain every event after the
     * checkpoint.
     */
    async take(): Promise<void> {
      previous = undefined;
      // The position is read before the listing, so that every change that the listing does not contain is published
      // after this position.
      const stream = await client.stream();
      if (continues(await store.load(), stream)) return;
      log({ stream: stream.created }, "snapshot begins");
      const complete = await begin();
      let count = 0;
      for await (const event of client.objects(filter)) {
        await handle(event);
        count += 1;
      }
      await complete();
      await store.save({ created: stream.created, position: stream.lastSequence });
      log({ stream: stream.created, events: count }, "snapshot is complete");
    },
    /**
     * Compares the stream with the checkpoint. Returns false if a snapshot is necessary. If the consumer has received
     * and acknowledged everything, stores as the checkpoint the last sequence number that the stream had at the previous
     * comparison.
     */
    async compare(isCaughtUp: () => Promise<boolean>): Promise<boolean> {
      const stream = await client.stream();
      const known = await store.load();
      if (!known || !continues(known, stream)) return false;
      const caughtUp = await isCaughtUp();
      const reached = previous?.created === stream.created ? previous.lastSequence : undefined;
      previous = stream;
      if (caughtUp && reached !== undefined && reached > known.position) {
        await store.save({ created: stream.created, position: reached });
      }
      return true;
    },
  };
}

export interface RetryOptions {
  maxFailures: number;
  isTransient: (error: unknown) => boolean;
  isStopped: () => boolean;
  deadLetter: (event: Event, failures: number, error: unknown) => Promise<void>;
}

/**
 * Handles an event of a snapshot. The event is retried and becomes a dead letter under the same conditions as an event
 * of the stream.
 */
export async function withRetries(
  event: Event,
  handle: (event: Event) => Promise<void>,
  { maxFailures, isTransient, isStopped, deadLetter }: RetryOptions,
): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      return await handle(event);
    } catch (error) {
      if (isStopped()) throw error;
      if (failures >= maxFailures && !isTransient(error)) {
        return await deadLetter(event, failures, error);
      }
      await sleep(Math.min(30_000, 100 * 2 ** Math.min(failures, 10)), undefined, { ref: false });
    }
  }
}

/** Stores the checkpoint in a file. */
export function checkpointFile(file: string): CheckpointStore {
  return {
    async load() {
      try {
        const { created, position }: Checkpoint = JSON.parse(await readFile(file, "utf8"));
        return { created, position };
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw error;
      }
    },
    save: (checkpoint) => writeDurably(file, `${JSON.stringify(checkpoint)}\n`),
  };
}
