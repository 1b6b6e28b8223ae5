export { openChannels } from "./channels.ts";
export {
  migrateService,
  migrationSettings,
  replayDeadLetters,
  rotateKeys,
  rotationSettings,
} from "./commands.ts";
export { defineService } from "./define-service.ts";
export type { AppDependencies } from "./definition.ts";
export { grpcTlsOf, startGrpcTls } from "./grpc-tls.ts";
export { type PortOptions, type Ports, serve } from "./listeners.ts";
export { natsOptions, streamSettings } from "./nats-options.ts";
export { type Examination, preflight } from "./preflight.ts";
export { STOP_REST_MS } from "./start-service.ts";
