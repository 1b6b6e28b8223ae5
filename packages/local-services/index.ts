export { withFileLimit } from "./file-limit.ts";
export { type Minio, type MinioOptions, startMinio } from "./minio.ts";
export { type Nats, type NatsOptions, startNats } from "./nats.ts";
export { claimAlone, liveOwner } from "./owner.ts";
export { freePort } from "./port.ts";
export { type Postgres, startPostgres } from "./postgres.ts";
export { findCommandLine, findProgram, missingProgram } from "./programs.mjs";
