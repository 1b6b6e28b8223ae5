import type { DescFile, MessageShape } from "@bufbuild/protobuf";
import {
  connectNats,
  type Event,
  eventType,
  type NatsLogin,
  on,
  subscribe,
} from "@statehouse/events";
import { file_statehouse_access_v1_events } from "@statehouse/proto/statehouse/access/v1/events";
import { InvitationCreatedSchema } from "@statehouse/proto/statehouse/access/v1/mail";
import { file_statehouse_state_v1_events } from "@statehouse/proto/statehouse/state/v1/events";
import { file_statehouse_workspaces_v1_events } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger } from "@statehouse/runtime";
import { unusedName } from "./organization.ts";

const files: readonly DescFile[] = [
  file_statehouse_access_v1_events,
  file_statehouse_workspaces_v1_events,
  file_statehouse_state_v1_events,
];

/** Every event type that a service declares. */
export const declaredEvents: readonly string[] = files.flatMap(({ messages }) =>
  messages.map(eventType),
);

/** The events that have been published since the subscription started, in the order of the stream. */
export interface Published extends AsyncDisposable {
  readonly events: readonly Event[];
  /**
   * Returns the events whose message has the value `id` in `field`. With `endings`, only those whose type ends with one
   * of them, for example `.locked.v1`.
   */
  about(field: string, id: string, ...endings: string[]): Event[];
}

/** Receives all events of a bus, as an external subscriber does. */
export function published({
  url,
  login,
}: {
  url: string;
  login?: NatsLogin | undefined;
}): Published {
  const events: Event[] = [];
  const nats = connectNats({ url, login, name: "test" });
  const keep = async (event: Event) => void events.push(event);
  const subscription = subscribe({
    nats,
    durable: unusedName("test"),
    filter: "statehouse.>",
    handlers: Object.fromEntries(declaredEvents.map((type) => [type, keep])),
    deadLetter: async () => {},
    logger: createLogger({ service: "test", level: "silent" }),
  });
  return {
    events,
    about: (field, id, ...endings) =>
      events.filter(
        ({ json, type }) =>
          JSON.parse(json)[field] === id &&
          (endings.length === 0 || endings.some((ending) => type.endsWith(ending))),
      ),
    async [Symbol.asyncDispose]() {
      await subscription[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    },
  };
}

/**
 * Receives the messages for the mail sender. Only one receiver can run, because their stream is a work queue with one
 * consumer.
 */
export function mailSender({ url, login }: Parameters<typeof published>[0]): AsyncDisposable & {
  readonly messages: readonly MessageShape<typeof InvitationCreatedSchema>[];
} {
  const messages: MessageShape<typeof InvitationCreatedSchema>[] = [];
  const nats = connectNats({ url, login, name: "mail" });
  const subscription = subscribe({
    nats,
    durable: "mail",
    filter: "statehouse-mail.>",
    handlers: on(InvitationCreatedSchema, async (message) => void messages.push(message)),
    deadLetter: async () => {},
    logger: createLogger({ service: "test", level: "silent" }),
  });
  return {
    messages,
    async [Symbol.asyncDispose]() {
      await subscription[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    },
  };
}
