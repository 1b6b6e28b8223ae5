export { type FreshBucket, freshBucket, minioClient, objectNames } from "./bucket.ts";
export { type Authority, newAuthority } from "./certificate.ts";
export { type FaultProxy, mentions, startFaultProxy } from "./fault-proxy.ts";
export { ownMinio, ownNats, ownPostgres } from "./own-part.ts";
export {
  commandLine,
  type MinioAddress,
  type NeededPart,
  needs,
  type SharedParts,
  sharedParts,
  shareParts,
} from "./parts.ts";
export { type StartedParts, startParts } from "./start-parts.ts";
export { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";
export { waitFor } from "./wait.ts";
