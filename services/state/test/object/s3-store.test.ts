import dns from "node:dns";
import { PassThrough, Readable } from "node:stream";
import { createLogger } from "@statehouse/runtime";
import {
  freshBucket,
  minioClient,
  needs,
  newAuthority,
  ownMinio,
  startFaultProxy,
  waitFor,
} from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { S3Settings } from "../../object/s3-connection-store.ts";
import { S3Store } from "../../object/s3-store.ts";
import { conformance, type TestedStore } from "../blob-store-conformance.ts";
import { onFullMinio } from "../full-minio.ts";

const silent = createLogger({ service: "test", level: "silent" });
const never = new AbortController().signal;
const DOMAIN = "statehouse.test";

type Bucket = Awaited<ReturnType<typeof ownMinio>> & { bucket: string };

/** Returns the store, and the same store behind a proxy. */
async function tested(stack: AsyncDisposableStack, settings: S3Settings): Promise<TestedStore> {
  const store = new S3Store(settings, silent);
  await store.prepared;
  const endpoint = new URL(settings.endpoint);
  const proxy = stack.use(await startFaultProxy(Number(endpoint.port)));
  endpoint.port = String(proxy.port);
  const far = new S3Store({ ...settings, endpoint: endpoint.origin, silenceMs: 1000 }, silent);
  await far.prepared;
  return { store, overProxy: { store: far, proxy }, onFullDisk: onFullMinio };
}

needs("minio")("a blob store in MinIO", () => {
  conformance(async (stack) => {
    return tested(stack, stack.use(await freshBucket()));
  });
});

needs("minio")("a blob store in MinIO with TLS and an authority of its own", () => {
  conformance(async (stack) => {
    const authority = await newAuthority();
    const { certificate, privateKey } = await authority.issue("127.0.0.1");
    const tls = { certificate, privateKey, authority: authority.certificate };
    const minio = stack.use(await ownMinio({ tls }));
    return tested(stack, { ...minio, bucket: "statehouse", authorities: tls.authority });
  });
});

needs("minio")("a blob store in MinIO that is addressed by the bucket's own name", () => {
  const lookup = dns.lookup;
  beforeAll(() => {
    // Resolves the domain and every bucket name in it to 127.0.0.1, as a name server would.
    const answering = (name: string, ...rest: unknown[]) =>
      Reflect.apply(lookup, dns, [name.endsWith(DOMAIN) ? "127.0.0.1" : name, ...rest]);
    dns.lookup = Object.assign(answering, { __promisify__: lookup.__promisify__ });
  });
  afterAll(() => {
    dns.lookup = lookup;
  });
  conformance(async (stack) => {
    const minio = stack.use(await ownMinio({ domain: DOMAIN }));
    const endpoint = minio.endpoint.replace("127.0.0.1", DOMAIN);
    return tested(stack, { ...minio, endpoint, bucket: "statehouse", addressing: "virtual-host" });
  });
});

needs("minio")("a blob store in a bucket with versioning", () => {
  let settings: Bucket;
  conformance(async (stack) => {
    settings = { ...stack.use(await ownMinio()), bucket: "statehouse" };
    await minioClient(settings).makeBucket(settings.bucket);
    await minioClient(settings).setBucketVersioning(settings.bucket, { Status: "Enabled" });
    return tested(stack, settings);
  });

  it("deletes all versions of a key, and reports those that the store refuses to delete", async () => {
    proves("Object store/one suite for folder and MinIO");
    await using store = new S3Store(settings, silent);
    await store.prepared;
    const [one, other] = ["ws-v/sv-1/raw-1", "ws-v/sv-1/raw-10"];
    for (const key of [one, one, other]) await putOne(store, key);
    await store.delete([one]);
    expect(await versionsUnder(settings, "ws-v/")).toEqual([`${other} content`]);
    expect(await versionsUnder(settings, "probe-")).toEqual([]);
    await minioClient(settings).setBucketVersioning(settings.bucket, { Status: "Suspended" });
    await store.delete([other]);
    expect(await versionsUnder(settings, "ws-v/")).toEqual([]);
  });
});

needs("minio")("a blob store in a bucket with object lock", () => {
  it("hides protected versions, deletes the others, and continues", async () => {
    proves("Object store/versioning and object lock");
    await using minio = await ownMinio();
    const settings = { ...minio, bucket: "statehouse" };
    const client = minioClient(minio);
    await client.makeBucket(settings.bucket, minio.region, { ObjectLocking: true });
    await using store = new S3Store(settings, silent);
    await store.prepared;
    const [free, locked] = ["ws-1/sv-1/raw-1", "ws-1/sv-2/raw-2"];
    await putOne(store, free);
    const lock = { mode: "COMPLIANCE", unit: "Days", validity: 1 } as const;
    await client.setObjectLockConfig(settings.bucket, lock);
    await putOne(store, locked);
    for (let time = 0; time < 2; time++) {
      await store.delete([locked, free]);
      expect(await versionsUnder(settings, "ws-1/")).toEqual([
        `${locked} content`,
        `${locked} marker`,
      ]);
    }
    const keys: string[] = [];
    for await (const { key } of store.list()) keys.push(key);
    expect(keys).toEqual([]);
    await expect(store.get(locked, () => new PassThrough(), never)).rejects.toMatchObject({
      reason: "blob_missing",
    });
  });
});

needs("minio")("an unusable S3 store is reported in one sentence", () => {
  const problemOf = async (settings: S3Settings): Promise<string> => {
    const said: string[] = [];
    const keep = { write: (line: string) => void said.push(JSON.parse(line).msg) };
    const logger = createLogger({ service: "test", level: "error", destination: keep });
    await using store = new S3Store(settings, logger);
    await waitFor(() => said.length > 0);
    const reported = await store.ready().catch((error: Error) => error.message);
    expect([reported]).toEqual(said);
    return reported ?? "";
  };

  it("with wrong keys, names and regions", async () => {
    proves("Object store/versioning and object lock");
    await using bucket = await freshBucket();
    const problem = (change: Partial<S3Settings>) => problemOf({ ...bucket, ...change });
    const { endpoint } = bucket;
    const refused = `${endpoint} refuses S3_ACCESS_KEY and S3_SECRET_KEY: one of them is wrong.`;
    expect(await problem({ accessKey: "nobody" })).toBe(refused);
    expect(await problem({ secretKey: "wrong" })).toBe(refused);
    expect(await problem({ bucket: "No_Bucket" })).toBe(
      "S3_BUCKET cannot be No_Bucket: it is not a valid bucket name.",
    );
    expect(await problem({ region: "eu-west-9" })).toBe(
      `The bucket ${bucket.bucket} is not in the region eu-west-9: set S3_REGION to us-east-1.`,
    );
    expect(await problem({ endpoint: "http://127.0.0.1:1" })).toBe(
      "http://127.0.0.1:1 does not respond (ECONNREFUSED).",
    );
    expect(await problem({ addressing: "virtual-host", endpoint: "http://nowhere.invalid" })).toBe(
      "The name in http://nowhere.invalid cannot be resolved; with S3_ADDRESSING=virtual-host the name is that of the bucket, <bucket>.<host>.",
    );
    expect(await problem({ endpoint: endpoint.replace("http:", "https:") })).toBe(
      `${endpoint.replace("http:", "https:")} does not use TLS: S3_ENDPOINT should begin with http:.`,
    );
  });

  it("with an untrusted certificate, or one for another name", async () => {
    proves("Object store/versioning and object lock");
    const authority = await newAuthority();
    const issued = await authority.issue("127.0.0.1");
    await using minio = await ownMinio({ tls: { ...issued, authority: authority.certificate } });
    const settings = { ...minio, bucket: "statehouse" };
    expect(await problemOf(settings)).toBe(
      `The certificate of ${minio.endpoint} is signed by an authority that is not trusted here (UNABLE_TO_VERIFY_LEAF_SIGNATURE); set S3_CA_FILE to a file with that authority's certificate.`,
    );
    const endpoint = minio.endpoint.replace("127.0.0.1", "localhost");
    expect(await problemOf({ ...settings, endpoint, authorities: authority.certificate })).toBe(
      `The certificate of ${endpoint} is issued for another name.`,
    );
  });
});

const putOne = (store: S3Store, key: string) =>
  store.put(key, Readable.from([Buffer.from("x")]), { size: 1 }, never);

/** Returns every version of the keys that begin with `prefix`, and their delete markers. */
async function versionsUnder(settings: Bucket, prefix: string): Promise<string[]> {
  const found: string[] = [];
  const listing = minioClient(settings).listObjects(settings.bucket, prefix, true, {
    IncludeVersion: true,
  });
  for await (const { name, isDeleteMarker } of listing) {
    found.push(`${name} ${isDeleteMarker ? "marker" : "content"}`);
  }
  return found.toSorted();
}
