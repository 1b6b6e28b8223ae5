export { type Consumption, replayConsumptions, startConsumer } from "./consumer.ts";
export { decode, type Event, eventType } from "./event.ts";
export { connectNats, type Nats } from "./nats.ts";
export { outboxMigration, recordEvent } from "./outbox.ts";
export { parkedEventsMigration } from "./parked-event.ts";
export { createRecorder, type Published, type PublishedEvents, published } from "./published.ts";
export { startRelay } from "./relay.ts";
export { STREAM } from "./stream.ts";
export { type EventHandlers, on, subscribe } from "./subscribe.ts";
