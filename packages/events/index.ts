export {
  type ConsumerOptions,
  type Consumption,
  replayConsumptions,
  startConsumer,
} from "./consumer.ts";
export { decode, type Event, eventType } from "./event.ts";
export { connectNats, type Nats, type NatsOptions } from "./nats.ts";
export { outboxMigration, type RecordedEvent, recordEvent } from "./outbox.ts";
export { parkedEventsMigration } from "./parked-event.ts";
export { type Relay, type RelayOptions, startRelay } from "./relay.ts";
export { ensureStream, STREAM, type StreamOptions } from "./stream.ts";
export {
  type EventHandler,
  type EventHandlers,
  type FailedEvent,
  on,
  type SubscribeOptions,
  subscribe,
} from "./subscribe.ts";
