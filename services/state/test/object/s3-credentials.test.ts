import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createLogger } from "@statehouse/runtime";
import { freshBucket, minioClient, needs, ownMinio, temporaryFolder } from "@statehouse/testing";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { AssumeRoleProvider } from "minio/dist/esm/AssumeRoleProvider.mjs";
import { afterEach, expect, onTestFinished, test } from "vitest";
import type { S3Settings } from "../../object/s3-connection-store.ts";
import { S3Store } from "../../object/s3-store.ts";

const silent = createLogger({ service: "test", level: "silent" });
const never = new AbortController().signal;

/** Variables that the AWS SDK reads. */
const variables = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONFIG_FILE",
  "AWS_PROFILE",
  "AWS_ROLE_ARN",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_ENDPOINT_URL_STS",
  "AWS_REGION",
  "AWS_EC2_METADATA_SERVICE_ENDPOINT",
  "AWS_EC2_METADATA_DISABLED",
] as const;
const before = new Map(variables.map((name) => [name, process.env[name]]));
const unset = "/nonexistent";

/** Sets the variables for one test. If `values` is empty, the SDK finds no credentials. */
function environment(values: Partial<Record<(typeof variables)[number], string>>): void {
  const defaults = {
    AWS_SHARED_CREDENTIALS_FILE: unset,
    AWS_CONFIG_FILE: unset,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_REGION: "us-east-1",
  };
  for (const name of variables) delete process.env[name];
  Object.assign(process.env, defaults, values);
}

afterEach(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

/** Opens a store with these settings and writes, reads, lists and deletes an object. */
async function useStore(settings: S3Settings): Promise<void> {
  await using store = new S3Store(settings, silent);
  await store.prepared;
  await store.ready();
  const key = `ws-1/sv-${randomBytes(4).toString("hex")}/raw-1`;
  const content = Buffer.from("content");
  const md5 = createHash("md5").update(content).digest("hex");
  await store.put(key, Readable.from([content]), { size: content.length, md5 }, never);
  const received = new PassThrough();
  const [bytes] = await Promise.all([text(received), store.get(key, () => received, never)]);
  expect(bytes).toBe("content");
  const keys: string[] = [];
  for await (const entry of store.list()) keys.push(entry.key);
  expect(keys).toContain(key);
  await store.delete([key]);
  expect(await store.sizeOf(key)).toBeUndefined();
}

async function withoutKeys(): Promise<{ settings: S3Settings; keys: [string, string] }> {
  const bucket = await freshBucket();
  onTestFinished(() => bucket[Symbol.asyncDispose]());
  const { accessKey, secretKey, ...settings } = bucket;
  return { settings, keys: [accessKey, secretKey] };
}

/** Starts a server that sends what `answer` returns for a path, as JSON or text. Returns the server's URL. */
async function serve(answer: (url: string) => unknown): Promise<string> {
  const server = createServer((request, response) => {
    const body = answer(request.url ?? "");
    if (body === undefined) response.writeHead(404).end();
    else response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

needs("minio")("credentials of the store that the AWS SDK finds", () => {
  test("come from variables", async () => {
    const { settings, keys } = await withoutKeys();
    environment({ AWS_ACCESS_KEY_ID: keys[0], AWS_SECRET_ACCESS_KEY: keys[1] });
    await useStore(settings);
  });

  test("come from a file", async () => {
    const { settings, keys } = await withoutKeys();
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "credentials");
    const profile = `[states]\naws_access_key_id=${keys[0]}\naws_secret_access_key=${keys[1]}\n`;
    await writeFile(file, profile);
    environment({ AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: "states" });
    await useStore(settings);
  });

  test("come from a web identity: the token of a file, exchanged by MinIO", async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256");
    const jwk = { ...(await exportJWK(publicKey)), kid: "1", alg: "RS256", use: "sig" };
    const issuer: string = await serve((url) => {
      if (url === "/keys") return { keys: [jwk] };
      return {
        issuer,
        jwks_uri: `${issuer}/keys`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      };
    });
    const clientId = "statehouse";
    await using minio = await ownMinio({
      environment: {
        MINIO_IDENTITY_OPENID_CONFIG_URL: `${issuer}/.well-known/openid-configuration`,
        MINIO_IDENTITY_OPENID_CLIENT_ID: clientId,
        MINIO_IDENTITY_OPENID_ROLE_POLICY: "readwrite",
      },
    });
    const { accessKey: _, secretKey: __, ...settings } = minio;
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "token");
    const token = await new SignJWT({ azp: clientId })
      .setProtectedHeader({ alg: "RS256", kid: "1" })
      .setIssuer(issuer)
      .setSubject("state")
      .setAudience(clientId)
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(privateKey);
    await writeFile(file, token);
    // MinIO derives the name of the role from the id of the client.
    const role = createHash("sha1").update(clientId).digest("base64url");
    environment({
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ROLE_ARN: `arn:minio:iam:${settings.region}::role/${role}`,
      AWS_ENDPOINT_URL_STS: minio.endpoint,
    });
    await useStore({ ...settings, bucket: "states" });
  });

  test("come from the role of the instance", async () => {
    const { settings, keys } = await withoutKeys();
    const temporary = await temporaryCredentials(settings.endpoint, keys);
    // A stand-in for the metadata service, which exists on Amazon's machines only.
    const metadata = await serve((url) => {
      if (url === "/latest/api/token") return "session";
      if (url === "/latest/meta-data/iam/security-credentials/") return "state-role";
      if (url === "/latest/meta-data/iam/security-credentials/state-role") return temporary;
      return undefined;
    });
    environment({
      AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata,
      AWS_EC2_METADATA_DISABLED: "false",
    });
    await useStore(settings);
  });

  test("are reported if there are none", async () => {
    const { settings } = await withoutKeys();
    environment({});
    await using store = new S3Store(settings, silent);
    await expect(store.ready()).rejects.toThrow(
      `No credentials for ${settings.endpoint} were found (S3_CREDENTIALS=aws): `,
    );
  });
});

/** Returns temporary credentials that MinIO issues, in the format of Amazon's metadata service. */
async function temporaryCredentials(
  endpoint: string,
  [accessKey, secretKey]: [string, string],
): Promise<Record<string, string>> {
  const provider = new AssumeRoleProvider({
    stsEndpoint: endpoint,
    accessKey,
    secretKey,
    durationSeconds: 3600,
    region: "us-east-1",
  });
  const credentials = await provider.getCredentials();
  return {
    Code: "Success",
    AccessKeyId: credentials.getAccessKey(),
    SecretAccessKey: credentials.getSecretKey(),
    Token: credentials.getSessionToken() ?? "",
    Expiration: new Date(Date.now() + 3_600_000).toISOString(),
  };
}

needs("minio")("server-side encryption", () => {
  const kms = () => ({ MINIO_KMS_SECRET_KEY: `states:${randomBytes(32).toString("base64")}` });

  test.each([
    ["AES256", undefined],
    ["aws:kms", "states"],
  ] as const)("with %s is requested for every object", async (algorithm, keyId) => {
    await using minio = await ownMinio({ environment: kms() });
    const settings = { ...minio, bucket: "states", encryption: { algorithm, keyId } };
    await useStore(settings);
    await using store = new S3Store(settings, silent);
    await store.prepared;
    await store.put("ws-1/sv-1/raw-1", Readable.from([Buffer.from("x")]), { size: 1 }, never);
    const answer = await fetch(
      await minioClient(settings).presignedUrl("HEAD", settings.bucket, "ws-1/sv-1/raw-1", 60),
      { method: "HEAD" },
    );
    expect(answer.headers.get("x-amz-server-side-encryption")).toBe(algorithm);
    if (keyId !== undefined) {
      expect(answer.headers.get("x-amz-server-side-encryption-aws-kms-key-id")).toContain(keyId);
    }
  });

  test("that the store cannot do is reported in one sentence", async () => {
    const bucket = await freshBucket();
    onTestFinished(() => bucket[Symbol.asyncDispose]());
    const settings = { ...bucket, encryption: { algorithm: "AES256" } as const };
    await using store = new S3Store(settings, silent);
    await expect(store.ready()).rejects.toThrow(
      `${bucket.endpoint} cannot encrypt as S3_ENCRYPTION=AES256 requires (`,
    );
  });
});
