import { createCipheriv, createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { MinioAddress } from "@statehouse/testing";

type Address = Omit<MinioAddress, "region"> & { region: string };

/** Creates a user of MinIO that may read and write every bucket. */
export async function addMinioUser(minio: Address, user: string, password: string): Promise<void> {
  const account = JSON.stringify({ secretKey: password, status: "enabled" });
  const body = encrypted(minio.secretKey, Buffer.from(account));
  await request(minio, "PUT", "add-user", { accessKey: user }, body);
  const policy = { policyName: "readwrite", userOrGroup: user, isGroup: "false" };
  await request(minio, "PUT", "set-user-or-group-policy", policy);
}

/** Deletes a user of MinIO. MinIO then refuses the user's keys. */
export async function removeMinioUser(minio: Address, user: string): Promise<void> {
  await request(minio, "DELETE", "remove-user", { accessKey: user });
}

/**
 * Encrypts a body for MinIO's administration API, which accepts only bodies that are encrypted with the caller's secret
 * key.
 */
function encrypted(secretKey: string, body: Buffer): Buffer {
  const salt = randomBytes(32);
  const key = pbkdf2Sync(secretKey, salt, 8192, 32, "sha256");
  const nonce = randomBytes(8);
  const seal = (sequence: number, associated: Buffer, plain: Buffer): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32LE(sequence);
    const cipher = createCipheriv("aes-256-gcm", key, Buffer.concat([nonce, count]));
    cipher.setAAD(associated);
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  };
  const empty = Buffer.alloc(0);
  const last = Buffer.concat([Buffer.from([0x80]), seal(0, empty, empty)]);
  return Buffer.concat([salt, Buffer.from([2]), nonce, seal(1, last, body)]);
}

const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");
const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

/** Sends a request to MinIO's administration API, signed like a request to S3. */
async function request(
  { endpoint, region, accessKey, secretKey }: Address,
  method: string,
  action: string,
  params: Record<string, string>,
  body: Buffer = Buffer.alloc(0),
): Promise<void> {
  const url = new URL(`${endpoint}/minio/admin/v3/${action}`);
  const query = Object.entries(params)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  url.search = query;
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const headers = { host: url.host, "x-amz-content-sha256": sha256(body), "x-amz-date": time };
  const signed = Object.keys(headers).join(";");
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}`);
  const canonical = [method, url.pathname, query, ...lines, "", signed, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [time.slice(0, 8), region, "s3", "aws4_request"].reduce<Buffer | string>(
    hmac,
    `AWS4${secretKey}`,
  );
  const signature = hmac(key, text).toString("hex");
  const response = await fetch(url, {
    method,
    headers: {
      "x-amz-content-sha256": headers["x-amz-content-sha256"],
      "x-amz-date": time,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
    },
    ...(body.length > 0 ? { body: Uint8Array.from(body) } : {}),
  });
  if (!response.ok) throw new Error(`${action}: ${response.status} ${await response.text()}`);
}
