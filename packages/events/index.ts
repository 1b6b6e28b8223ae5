export {
  type Consumer,
  replayDeadLetters,
  requireReachableHints,
  startConsumer,
} from "./consumer.ts";
export { observeDeadLetters } from "./dead-letter.ts";
export { decode, type Event, eventType, INSTALLATION } from "./event.ts";
export {
  createListing,
  type Listing,
  type ListingSource,
  listed,
} from "./listing.ts";
export { createLocalBus, type LocalBus, startLocalRelay } from "./local-bus.ts";
export { eventMigrations } from "./migrations.ts";
export { connectNats, type Nats } from "./nats.ts";
export type { NatsLogin, NatsTls } from "./nats-login.ts";
export { type EventFacts, recordEvent } from "./outbox.ts";
export { hint, type Projection, projection, typesOf } from "./projection.ts";
export { type Published, published } from "./published.ts";
export { startRelay } from "./relay.ts";
export { type ServeListingOptions, serveListing } from "./serve-listing.ts";
export {
  ensureStreams,
  ensureSubscribers,
  MAIL_STREAM,
  STREAM,
  type StreamSettings,
} from "./stream.ts";
export { on, subscribe } from "./subscribe.ts";
