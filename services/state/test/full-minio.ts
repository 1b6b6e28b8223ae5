import { createLogger } from "@statehouse/runtime";
import { ownMinio } from "@statehouse/testing";
import { S3Store } from "../object/s3-store.ts";
import { type FullDiskReport, ROOM, useFullDisk } from "./full-disk.ts";

let report: Promise<FullDiskReport> | undefined;

/**
 * Runs the scenario of full-disk.ts once on a MinIO whose file size is limited. One run is enough, because the result
 * does not depend on the store's addressing and transport.
 */
export function onFullMinio(): Promise<FullDiskReport> {
  report ??= run();
  return report;
}

async function run(): Promise<FullDiskReport> {
  await using minio = await ownMinio({ largestFile: ROOM });
  const logger = createLogger({ service: "test", level: "silent" });
  await using store = new S3Store({ ...minio, bucket: "statehouse" }, logger);
  await store.prepared;
  return await useFullDisk(store);
}
