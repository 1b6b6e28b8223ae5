export type { MinioAddress } from "@statehouse/local-services";
export { type FreshBucket, freshBucket, minioClient, objectNames } from "./bucket.ts";
export { bundleProgram } from "./bundled-program.ts";
export { type Authority, newAuthority } from "./certificate.ts";
export { childEnvironment } from "./child-environment.ts";
export {
  commandLine,
  type Dependency,
  needs,
  type SharedDependencies,
  shareDependencies,
  sharedDependencies,
  sharedNats,
} from "./dependencies.ts";
export { type FaultProxy, mentions, type ProxyTls, startFaultProxy } from "./fault-proxy.ts";
export { type FollowedProcess, followProcess } from "./follow-process.ts";
export { ownMinio, ownNats, ownPostgres } from "./own-dependency.ts";
export { type Outcome, runProgram } from "./run-program.ts";
export { newServiceCertificates, type ServiceCertificates } from "./service-certificates.ts";
export { newKeyRing, newServiceKeys, type ServiceKeys } from "./service-keys.ts";
export { type StartedDependencies, startDependencies } from "./start-dependencies.ts";
export { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";
export { waitFor } from "./wait.ts";
