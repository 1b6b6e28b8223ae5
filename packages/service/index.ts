export { type Clients, openChannels, type ServiceAddresses } from "./channels.ts";
export { migrateService, replayDeadLetters, rotateKeys } from "./commands.ts";
export {
  type AppParts,
  defineService,
  type OpenedApp,
  type RunningService,
  type Service,
} from "./define-service.ts";
export { type Listener, type Ports, serve } from "./listeners.ts";
