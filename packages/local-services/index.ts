export { withFileLimit } from "./file-limit.ts";
export { type Minio, type MinioOptions, startMinio } from "./minio.ts";
export { type Nats, type NatsOptions, startNats } from "./nats.ts";
export { claimAlone } from "./owner.ts";
export { findCommandLine, findPart, missingPart } from "./parts.mjs";
export { freePort } from "./port.ts";
export { type Postgres, startPostgres } from "./postgres.ts";
