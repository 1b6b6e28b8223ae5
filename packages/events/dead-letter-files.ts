/**
 * Dead letters of a subscriber as files: `import { deadLetterFiles } from "@statehouse/events/dead-letter-files"`.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { writeDurably } from "./durable-file.ts";
import type { Event } from "./event.ts";
import type { FailedEvent } from "./receive.ts";
import type { EventHandler, EventHandlers } from "./subscribe.ts";

/** The dead letters of one subscription. */
export interface DeadLetterFiles {
  /**
   * Stores an event that has failed `maxFailures` times; `subscribe` takes this function as `deadLetter`. An event that
   * is stored again replaces its file.
   */
  store(failed: FailedEvent): Promise<void>;
  /** Returns the number of stored events, for an alert. */
  count(): Promise<number>;
  /**
   * Calls the handlers with the stored events, oldest first, and deletes each event whose handler succeeds. An event
   * that fails again stays stored, with the new error. A file that cannot be read also stays, and is counted as failed.
   * `otherwise` processes events of types without a handler, as it does in `subscribe`.
   */
  replay(
    handlers: EventHandlers,
    otherwise?: EventHandler,
  ): Promise<{ replayed: number; failed: number }>;
}

/** The content of the file of one dead letter. */
interface StoredEvent {
  event: Omit<Event, "time"> & { time: string };
  consumer: string;
  failures: number;
  error: string;
}

const EXTENSION = ".json";
const MAX_ERROR_LENGTH = 1000;
/**
 * The maximum length of a file name without its extension. It is less than the 255 bytes that file systems allow,
 * because the temporary file of `writeDurably` has a longer name.
 */
const MAX_NAME_LENGTH = 200;

type IdentifiedEvent = Pick<Event, "id" | "type" | "subject" | "revision" | "json">;

/**
 * Returns the name of the file of an event, without its extension: the event's id or, if the id is empty or too long, a
 * digest of the event. Only publishers other than Statehouse send such ids. The packages of all languages compute the
 * same name.
 */
function nameOf({ id, type, subject, revision, json }: IdentifiedEvent): string {
  const name = encodeURIComponent(id);
  if (name !== "" && name.length <= MAX_NAME_LENGTH) return name;
  const content = [id, type, subject, revision, json].join("\0");
  return `sha256-${createHash("sha256").update(content).digest("hex")}`;
}

/**
 * Stores each dead letter in a file of `folder`. The folder is created with the first dead letter and belongs to one
 * subscription, whose replicas can share it.
 */
export function deadLetterFiles(folder: string): DeadLetterFiles {
  const write = async (name: string, stored: StoredEvent): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // The file is written durably, because the subscription acknowledges the event when `store` resolves.
    await writeDurably(path.join(folder, name), `${JSON.stringify(stored, null, 2)}\n`);
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
      write(`${nameOf(event)}${EXTENSION}`, {
        event: { ...event, time: event.time.toISOString() },
        ...failed,
        error: describe(error),
      }),
    count: async () => (await names()).length,
    async replay(handlers, otherwise) {
      const found = await names();
      const read = await Promise.allSettled(
        found.map(
          async (name): Promise<{ name: string; one: StoredEvent }> => ({
            name,
            one: JSON.parse(await readFile(path.join(folder, name), "utf8")),
          }),
        ),
      );
      const stored = read.flatMap((file) => (file.status === "fulfilled" ? [file.value] : []));
      // A file that cannot be read does not prevent the replay of the others.
      let failed = found.length - stored.length;
      for (const { name, one } of stored.toSorted((a, b) => byAge(a.one, b.one))) {
        try {
          const handle = handlers[one.event.type] ?? otherwise;
          if (!handle) throw new Error(`There is no handler for ${one.event.type}.`);
          await handle({ ...one.event, time: new Date(one.event.time) });
          await rm(path.join(folder, name), { force: true });
        } catch (error) {
          failed += 1;
          await write(name, { ...one, failures: one.failures + 1, error: describe(error) });
        }
      }
      return { replayed: found.length - failed, failed };
    },
  };
}

/** Orders the events of one object by revision, and events of different objects by the time of the change. */
const byAge = ({ event: one }: StoredEvent, { event: other }: StoredEvent): number =>
  one.subject === other.subject
    ? one.revision - other.revision
    : Date.parse(one.time) - Date.parse(other.time);

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, MAX_ERROR_LENGTH);
}
