export { type Actor, type ActorType, currentActor, runAs } from "./actor.ts";
export { type AuthenticationLimit, createAuthenticationLimit } from "./authentication-limit.ts";
export { runCommand } from "./command.ts";
export { ConfigError, describeConfig, isSet, neededWith, readConfig } from "./config.ts";
export { bearerToken, credentialKey } from "./credential.ts";
export { type Changing, currentOf, derivedFrom } from "./current-value.ts";
export { remainingMs, runWithDeadline, withoutDeadline } from "./deadline.ts";
export {
  type Edition,
  type EditionName,
  edition,
  editionTable,
  editionValues,
  type Feature,
} from "./editions.ts";
export { isCurrentTag } from "./entity-tag.ts";
export { makeFolder } from "./folder.ts";
export { type FollowedFiles, followFiles } from "./followed-files.ts";
export { forEachConcurrently } from "./for-each-concurrently.ts";
export {
  authenticationFailures,
  counterFromZero,
  durationHistogram,
  scrapedGauge,
} from "./instruments.ts";
export { kebabCase } from "./kebab-case.ts";
export { runService, StartError, type Stoppable } from "./lifecycle.ts";
export { limitReceiving } from "./limit-receiving.ts";
export {
  type ConnectionDeadlines,
  type HttpHandler,
  type HttpPort,
  openHttpPort,
} from "./listener.ts";
export { createLogger, type Logger, type LoggerOptions } from "./logger.ts";
export { type LoopOptions, startLoop } from "./loop.ts";
export { metricsText } from "./metrics.ts";
export {
  type Check,
  type OpsOptions,
  type OpsServer,
  observeDependency,
  startOpsServer,
} from "./ops-server.ts";
export { requireOwn } from "./own-path.ts";
export { writePrivately } from "./private-file.ts";
export { type Progress, type ProgressOptions, startProgress } from "./progress.ts";
export { createProxies, type Proxies } from "./proxies.ts";
export {
  deadlineSettings,
  deadlinesOf,
  grpcTlsSettings,
  keyRingSetting,
  natsSettings,
  optionalRenewable,
  portSetting,
  secondsSetting,
  settings,
  stopSettings,
} from "./settings.ts";
export { createStopping, type Stopping } from "./stopping.ts";
export { createTokenBuckets, type TokenBuckets } from "./token-buckets.ts";
export {
  type Attributes,
  type Span,
  spansAreRecorded,
  traceId,
  traceparent,
  withClientSpan,
  withServerSpan,
  withSpan,
} from "./tracing.ts";
export { nextTurn } from "./turns.ts";
export { isUntrustedAuthority } from "./untrusted-authority.ts";
export { createWake, type Wake } from "./wake.ts";
export { watchSettings } from "./watch-settings.ts";
export { type RetryOptions, withRetry } from "./with-retry.ts";
export { withTimeout } from "./with-timeout.ts";
