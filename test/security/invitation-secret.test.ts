import { jetstreamManager } from "@nats-io/jetstream";
import {
  connectNats,
  type Event,
  eventMigrations,
  MAIL_STREAM,
  on,
  published,
  recordEvent,
  STREAM,
  startRelay,
  subscribe,
} from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { InvitationCreatedSchema } from "@statehouse/proto/statehouse/access/v1/mail";
import { createLogger } from "@statehouse/runtime";
import { needs, ownNats, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";

const logger = createLogger({ service: "test", level: "silent" });
const known = "a-secret-of-an-invitation";

needs("nats-server")("the secret of an invitation", () => {
  test("is in the stream of the mail sender only, is deleted when sent, and is in no dead letter", async () => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await ownNats());
    const nats = stack.use(connectNats({ url: server.url, name: "test" }));
    const migrations = eventMigrations;
    const options = { contextName: "access", migrations };
    const fresh = stack.use(await freshDatabase(options));
    const database = stack.use(
      await openDatabase({ ...options, url: fresh.url, entities: [], logger }),
    );
    stack.use(startRelay({ database, nats, service: "access", source: "urn:test", logger }));
    const invite = (secret: string) =>
      database.transaction((em) =>
        recordEvent(
          em,
          published(InvitationCreatedSchema, "user-1", {
            ...{ secret, organizationId: "org-1", email: "new@example.com", revision: 1n },
          }),
        ),
      );
    await invite(known);
    await invite("failing");
    const { streams } = await jetstreamManager(await nats.connection());
    const messages = async (name: string) => (await streams.info(name)).state.messages;
    await waitFor(async () => (await messages(MAIL_STREAM)) === 2);
    expect(await messages(STREAM)).toBe(0);
    expect(() =>
      subscribe({
        ...{ nats, durable: "everything", filter: "statehouse.>", logger },
        handlers: on(InvitationCreatedSchema, async () => {}),
        deadLetter: async () => {},
      }),
    ).toThrow("excludes the handled events statehouse-mail.access.invitation.created.v1");

    const sent: string[] = [];
    const dead: Event[] = [];
    stack.use(
      subscribe({
        ...{ nats, durable: "mail", filter: "statehouse-mail.>", maxFailures: 1, logger },
        handlers: on(InvitationCreatedSchema, async ({ secret }) => {
          if (secret === "failing") throw new Error("no such address");
          sent.push(secret);
        }),
        deadLetter: async ({ event }) => void dead.push(event),
      }),
    );
    await waitFor(() => sent.length === 1 && dead.length === 1);
    expect(sent).toEqual([known]);
    expect(dead).toMatchObject([{ organizationId: "org-1", subject: "user-1", json: "{}" }]);
    expect(JSON.stringify(dead)).not.toContain("failing");
    await waitFor(async () => (await messages(MAIL_STREAM)) === 0);
  });
});
