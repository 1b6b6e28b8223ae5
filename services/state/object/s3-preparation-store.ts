import { randomBytes } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { hasCode } from "@statehouse/errors";
import type { S3Connection, S3Settings } from "./s3-connection-store.ts";
import { deleteFrom } from "./s3-deletion-store.ts";
import { type S3Step, s3Problem } from "./s3-problem-store.ts";
import { S3Refusal } from "./s3-transfer-store.ts";

const URL_LIFETIME_S = 60;
const never = new AbortController().signal;

/** The store does not respond or does not meet a requirement; the message is one sentence for the operator. */
export class S3Unusable extends Error {
  override readonly name = "S3Unusable";
}

/**
 * Creates the bucket if it is missing and tries every required operation. Returns whether the store verifies an
 * announced md5. Throws `S3Unusable`.
 */
export async function prepareS3(
  connection: S3Connection,
  settings: S3Settings,
): Promise<{ checksMd5: boolean }> {
  const { client, transfer } = connection;
  const { bucket, region } = settings;
  const step = async <T>(what: S3Step, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw new S3Unusable(s3Problem(error, settings, what), { cause: error });
    }
  };
  const list = () => client.listObjectsV2Query(bucket, "", "", "", 1, "");
  const makeBucket = async () => {
    try {
      await client.makeBucket(bucket, region);
    } catch (error) {
      // Another replica may have created the bucket first.
      await list().catch(() => {
        throw error;
      });
    }
  };
  await step("list the bucket", async () => {
    try {
      await list();
    } catch (error) {
      if (!hasCode(error, "NoSuchBucket")) throw error;
      await step("create the bucket", makeBucket);
    }
  });
  const key = `probe-${randomBytes(8).toString("hex")}`;
  const put = async (headers: Record<string, string>) => {
    const target = await connection.presignPut(key, URL_LIFETIME_S);
    const body = Readable.from([Buffer.from("probe")]);
    const sent = { ...target.headers, "content-length": "5", ...headers };
    await transfer.send(target.url, body, sent, never);
  };
  const checksMd5 = await step("write objects", async () => {
    const refused = await refusesWrongMd5(() => put(contentMd5("0".repeat(32))));
    if (refused) await put({});
    return refused;
  });
  try {
    await step("read objects", async () => {
      const url = await client.presignedGetObject(bucket, key, URL_LIFETIME_S);
      const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
      await transfer.receive(url, () => nowhere, never);
    });
  } finally {
    await step("delete objects", () => deleteFrom(client, bucket, [key]));
  }
  return { checksMd5 };
}

/** Returns the header that announces an md5 given as hex. */
export const contentMd5 = (hex: string) => ({
  "content-md5": Buffer.from(hex, "hex").toString("base64"),
});

async function refusesWrongMd5(put: () => Promise<void>): Promise<boolean> {
  try {
    await put();
    return false;
  } catch (error) {
    if (error instanceof S3Refusal && error.code === "BadDigest") return true;
    throw error;
  }
}
