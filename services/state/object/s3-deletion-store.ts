import type { Client } from "minio";
import { z } from "zod";

/** The members of a listing's entry that describe an object version; the client's own types omit them. */
const versionSchema = z.object({
  name: z.string(),
  versionId: z.coerce.string(),
  isDeleteMarker: z.coerce.boolean().default(false),
});
type Version = z.infer<typeof versionSchema>;

/**
 * Deletes the bytes of the keys. In a bucket with versioning it deletes all versions, because no version of a deleted
 * key is ever read.
 *
 * Bytes that object lock protects are hidden by a delete marker until the bucket's lifecycle rules delete them. Throws
 * if the store refuses a deletion for any other reason.
 */
export async function deleteFrom(
  client: Client,
  bucket: string,
  keys: readonly string[],
): Promise<void> {
  if (!(await isVersioned(client, bucket))) {
    const [failure] = await remove(client, bucket, keys);
    if (failure) throw failure.error;
    return;
  }
  for (const key of keys) await deleteVersions(client, bucket, key);
}

async function deleteVersions(client: Client, bucket: string, key: string): Promise<void> {
  const versions = await versionsOf(client, bucket, key);
  const contents = versions.filter(({ isDeleteMarker }) => !isDeleteMarker);
  const [failure] = await remove(client, bucket, contents);
  if (!failure) {
    const [left] = await remove(
      client,
      bucket,
      versions.filter(({ isDeleteMarker }) => isDeleteMarker),
    );
    if (left) throw left.error;
  } else {
    if (!(await isLocked(client, bucket))) throw failure.error;
    if (contents.length < versions.length) return;
    const [unmarked] = await remove(client, bucket, [key]);
    if (unmarked) throw unmarked.error;
  }
}

/** Returns the errors of the deletions that S3 refused. A missing key is treated as deleted. */
async function remove(
  client: Client,
  bucket: string,
  objects: readonly (string | Version)[],
): Promise<{ error: Error }[]> {
  if (objects.length === 0) return [];
  const named = objects.map((object) =>
    typeof object === "string"
      ? { name: object }
      : { name: object.name, versionId: object.versionId },
  );
  const answers: unknown[] = await client.removeObjects(bucket, named);
  return answers.flatMap((answer) => {
    const { Code, Message } = refusalSchema.parse(answer);
    if (Code === "NoSuchKey" || Code === "NoSuchVersion") return [];
    return [{ error: Object.assign(new Error(Message), { code: Code }) }];
  });
}

const refusalSchema = z.object({ Code: z.string(), Message: z.string().default("refused") });

async function isVersioned(client: Client, bucket: string): Promise<boolean> {
  const answer: unknown = await client.getBucketVersioning(bucket);
  return z.object({ Status: z.string() }).safeParse(answer).success;
}

async function isLocked(client: Client, bucket: string): Promise<boolean> {
  try {
    const answer: unknown = await client.getObjectLockConfig(bucket);
    return z.object({ objectLockEnabled: z.literal("Enabled") }).safeParse(answer).success;
  } catch {
    return false;
  }
}

async function versionsOf(client: Client, bucket: string, key: string): Promise<Version[]> {
  const found: Version[] = [];
  for await (const entry of client.listObjects(bucket, key, true, { IncludeVersion: true })) {
    const version = versionSchema.parse(entry);
    if (version.name === key) found.push(version);
  }
  return found;
}
