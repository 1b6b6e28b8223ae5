import { readdir } from "node:fs/promises";
import path from "node:path";
import type { Environment } from "@statehouse/standalone/environments";
import { minioClient, objectNames } from "@statehouse/testing";

/** Reads the keys of a stack's blob store directly. */
export interface StoreView {
  /** Returns the keys of all blobs, including incomplete uploads. */
  keys(): Promise<string[]>;
  /** Returns the keys in the store's list of permanently deleted blobs. */
  list(): Promise<string[]>;
}

/** Finds the store from the settings of the state service. Must be called before proxies change these settings. */
export function storeView(settings: Environment): StoreView {
  const setting = (name: string) => {
    const value = settings[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  };
  if (setting("BLOB_STORE") === "s3") {
    const client = minioClient({
      endpoint: setting("S3_ENDPOINT"),
      region: setting("S3_REGION"),
      accessKey: setting("S3_ACCESS_KEY"),
      secretKey: setting("S3_SECRET_KEY"),
    });
    return view(() => objectNames(client, setting("S3_BUCKET")));
  }
  const folder = setting("BLOB_DIRECTORY");
  return view(async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
      .map((file) => file.replace(/^blobs\/[0-9a-f]{2}\//, ""))
      .toSorted();
  });
}

const LIST = "deleted-permanently/";

const view = (names: () => Promise<string[]>): StoreView => ({
  keys: async () => (await names()).filter((name) => !name.startsWith(LIST)),
  list: async () =>
    (await names()).filter((name) => name.startsWith(LIST)).map((name) => name.slice(LIST.length)),
});
