import { type ConsumerInfo, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { STREAM } from "@statehouse/events";
import { waitFor } from "@statehouse/testing";
import type { Stack } from "../stack/stack.ts";

/** A message of the stream, as a consumer receives it. */
export interface Published {
  seq: number;
  /** The NATS subject of the message; `subject` is that of the event. */
  address: string;
  type: string;
  id: string;
  source: string;
  subject: string;
  revision: number;
  data: Uint8Array;
}

/** Direct access to the stream and its consumers over a separate connection. */
export interface Bus extends AsyncDisposable {
  manager: JetStreamManager;
  lastSequence(): Promise<number>;
  /** Returns the messages after this sequence number, in order. */
  since(sequence: number): Promise<Published[]>;
  consumer(durable: string): Promise<ConsumerInfo>;
  /** Waits until every consumer has acknowledged all messages. */
  quiet(): Promise<void>;
  /**
   * Makes the bus redeliver the messages that a killed service did not acknowledge, as if the acknowledgement wait had
   * passed. The service's next process receives them, and restores the normal wait.
   */
  endAckWaits(service: "workspaces" | "state"): Promise<void>;
}

export const durables = [
  "workspaces-workspace-state",
  "workspaces-created",
  "workspaces-updated",
  "workspaces-deleted",
  "state-updated",
  "state-deleted",
] as const;

/** An acknowledgement wait that is shorter than the time a service takes to start. */
const SHORT_ACK_WAIT_NS = 50_000_000;

/** Connects to the stack's NATS directly, without a proxy. */
export async function openBus({ url, login }: Pick<Stack["nats"], "url" | "login">): Promise<Bus> {
  const connection = await connect({
    servers: url,
    ...(login && { user: login.user, pass: login.password }),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  });
  const manager = await jetstreamManager(connection);
  const lastSequence = async () => (await manager.streams.info(STREAM)).state.last_seq;
  const consumer = (durable: string) => manager.consumers.info(STREAM, durable);
  return {
    manager,
    lastSequence,
    consumer,
    async since(sequence) {
      const last = await lastSequence();
      const messages: Published[] = [];
      for (let seq = sequence + 1; seq <= last; seq++) {
        const message = await manager.streams.getMessage(STREAM, { seq });
        if (!message) continue;
        const header = (name: string) => message.header.get(name);
        messages.push({
          seq,
          address: message.subject,
          type: header("ce-type"),
          id: header("ce-id"),
          source: header("ce-source"),
          subject: header("ce-subject"),
          revision: Number(header("ce-sequence")),
          data: message.data,
        });
      }
      return messages;
    },
    async quiet() {
      const idle = async (durable: string) => {
        const { num_pending, num_ack_pending } = await consumer(durable);
        return num_pending === 0 && num_ack_pending === 0;
      };
      await waitFor(async () => (await Promise.all(durables.map(idle))).every(Boolean), {
        what: "the consumers to have received everything",
      });
    },
    async endAckWaits(service) {
      for (const durable of durables.filter((name) => name.startsWith(`${service}-`))) {
        await manager.consumers.update(STREAM, durable, { ack_wait: SHORT_ACK_WAIT_NS });
      }
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
