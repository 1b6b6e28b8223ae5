import { expect, test } from "vitest";
import { freshBucket, minioClient, objectNames } from "../bucket.ts";
import { needs } from "../dependencies.ts";
import { ownNats } from "../own-dependency.ts";

test("a separate NATS restarts on the same port", async () => {
  await using nats = await ownNats();
  const { url } = nats;
  await nats.stop();
  await nats.start();
  expect(nats.url).toBe(url);
});

needs("minio")("a fresh bucket", () => {
  test("contains the objects that a test puts into it", async () => {
    const bucket = await freshBucket();
    const client = minioClient(bucket);
    await client.putObject(bucket.bucket, "a/b", Buffer.from("tea"));
    expect(await objectNames(client, bucket.bucket)).toEqual(["a/b"]);
    await bucket[Symbol.asyncDispose]();
    expect(await client.bucketExists(bucket.bucket)).toBe(false);
  });
});
