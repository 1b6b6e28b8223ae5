export { openChannels } from "./channels.ts";
export { migrateService, replayDeadLetters, rotateKeys } from "./commands.ts";
export { defineService } from "./define-service.ts";
export type { AppDependencies } from "./definition.ts";
export { type Ports, serve } from "./listeners.ts";
export { natsOptions } from "./nats-options.ts";
