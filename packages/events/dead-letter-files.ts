/**
 * Dead letters of a subscriber as files: `import { deadLetterFiles } from "@statehouse/events/dead-letter-files"`.
 */
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Event } from "./event.ts";
import type { FailedEvent } from "./receive.ts";
import type { EventHandler, EventHandlers } from "./subscribe.ts";

/** The dead letters of one subscription. */
export interface DeadLetterFiles {
  /**
   * Stores an event that has failed too often; `subscribe` takes this function as `deadLetter`. An event that is stored
   * again replaces its file.
   */
  store(failed: FailedEvent): Promise<void>;
  /** Returns the number of stored events, for an alert. */
  count(): Promise<number>;
  /**
   * Calls the handlers with the stored events, oldest first, and deletes those that succeed. An event that fails again
   * stays, with the new error. `otherwise` processes events of types without a handler, as it does in `subscribe`.
   */
  replay(
    handlers: EventHandlers,
    otherwise?: EventHandler,
  ): Promise<{ replayed: number; failed: number }>;
}

/** The content of a file. */
interface StoredEvent {
  event: Omit<Event, "time"> & { time: string };
  consumer: string;
  failures: number;
  error: string;
}

const EXTENSION = ".json";
const MAX_ERROR_LENGTH = 1000;

/**
 * Stores each dead letter in a file of `folder`, which is created when the first one is stored and belongs to one
 * subscription. Replicas can share it.
 */
export function deadLetterFiles(folder: string): DeadLetterFiles {
  const fileOf = (id: string) => path.join(folder, `${encodeURIComponent(id)}${EXTENSION}`);

  const write = async (stored: StoredEvent): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = fileOf(stored.event.id);
    const draft = `${file}.${process.pid}.draft`;
    // The event is acknowledged when `store` resolves, so it must be on the disk by then.
    const handle = await open(draft, "w", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(stored, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
    await syncFolder(folder);
  };

  const names = async (): Promise<string[]> => {
    const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return found.filter((name) => name.endsWith(EXTENSION));
  };

  return {
    store: ({ event, error, ...failed }) =>
      write({
        event: { ...event, time: event.time.toISOString() },
        ...failed,
        error: describe(error),
      }),
    count: async () => (await names()).length,
    async replay(handlers, otherwise) {
      const stored = await Promise.all(
        (await names()).map(
          async (name): Promise<StoredEvent> =>
            JSON.parse(await readFile(path.join(folder, name), "utf8")),
        ),
      );
      let failed = 0;
      for (const one of stored.toSorted(byAge)) {
        try {
          const handle = handlers[one.event.type] ?? otherwise;
          if (!handle) throw new Error(`There is no handler for ${one.event.type}.`);
          await handle({ ...one.event, time: new Date(one.event.time) });
          await rm(fileOf(one.event.id), { force: true });
        } catch (error) {
          failed += 1;
          await write({ ...one, failures: one.failures + 1, error: describe(error) });
        }
      }
      return { replayed: stored.length - failed, failed };
    },
  };
}

/** Orders the events of one object by revision, and events of different objects by the time of the change. */
const byAge = ({ event: one }: StoredEvent, { event: other }: StoredEvent): number =>
  one.subject === other.subject
    ? one.revision - other.revision
    : Date.parse(one.time) - Date.parse(other.time);

/** Writes a folder to the disk. Only after that does a renamed file in it survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, MAX_ERROR_LENGTH);
}
