import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { connectNats, eventMigrations as migrations, startConsumer } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { needs, ownNats, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";

// Attack: a client that may publish to the bus publishes an event whose processing fails and whose headers cannot be
// stored. If the event did not become a dead letter, it would be redelivered without end.

const logger = createLogger({ service: "test", level: "silent" });
const type = "statehouse.workspaces.workspace.created.v1";

const inError = "NUL in the error, which can quote the event";

const attacks: Record<string, Record<string, string>> = {
  [inError]: { "ce-id": "error" },
  "NUL in the id": { "ce-id": "%00" },
  "NUL in the subject": { "ce-id": "nul", "ce-subject": "ws-%00" },
  "NUL in the trace": { "ce-id": "trace", "ce-traceparent": "%00" },
  "a revision that is not a number": { "ce-id": "word", "ce-sequence": "many" },
  "a revision that is not whole": { "ce-id": "half", "ce-sequence": "0.5" },
  "a revision beyond 64 bits": { "ce-id": "huge", "ce-sequence": "1e300" },
  "a time that the database cannot store": {
    "ce-id": "late",
    "ce-time": "-200000-01-01T00:00:00Z",
  },
  "an id longer than an index entry": { "ce-id": randomText(6000) },
};

/** Returns a text that PostgreSQL cannot compress. */
function randomText(length: number): string {
  return Array.from({ length }, () => Math.random().toString(36)[2] ?? "x").join("");
}

needs("nats-server")("an event that fails and cannot be stored as it is", () => {
  test.each(Object.keys(attacks))("becomes a dead letter: %s", async (attack) => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await ownNats());
    const { url } = stack.use(await freshDatabase({ contextName: "events", migrations }));
    const options = { contextName: "events", url, entities: [], migrations, logger };
    const database = stack.use(await openDatabase(options));
    const nats = stack.use(connectNats({ url: server.url, name: "test" }));
    stack.use(
      startConsumer({
        ...{ nats, database, logger, service: "state", name: "workspaces", maxFailures: 2 },
        filter: "statehouse.workspaces.>",
        projections: [
          {
            hints: { [type]: ({ json }) => JSON.parse(json).workspaceId },
            async refresh(ids) {
              if (ids.includes("poison"))
                throw new TypeError(attack === inError ? "poison\0" : "poison");
            },
          },
        ],
      }),
    );
    const client = jetstream(await nats.connection());
    const publish = async (workspaceId: string, values: Record<string, string>) => {
      const head = headers();
      for (const [name, value] of Object.entries(values)) head.set(name, value);
      await client.publish(`${type}.org-1`, JSON.stringify({ workspaceId }), { headers: head });
    };
    await waitFor(() => publish("fine", { "ce-id": "fine" }).then(() => true));
    await publish("poison", attacks[attack] ?? {});
    const stored = () => database.query("select event_id, failures from dead_letters");
    await waitFor(async () => (await stored()).length === 1, {
      timeout: 10_000,
      what: "the dead letter",
    });
    expect(await stored()).toEqual([{ event_id: expect.any(String), failures: 2 }]);
  });
});
