import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { hasCode } from "@statehouse/errors";
import { generateAssertionKey } from "@statehouse/rpc";
import { makeFolder, requireOwn, StartError, writePrivately } from "@statehouse/runtime";

/** The signing and sealing keys of one installation. */
export interface Secrets {
  /** Private signing keys as JSON, by the name of the service that signs. */
  assertionKeys: Record<string, string>;
  /** All public keys, in the format of ASSERTION_PUBLIC_KEYS. */
  assertionPublicKeys: string;
  uploadTokenKeys: string;
  sealingKeys: string;
  /** The password of `natsUser`. */
  natsPassword: string;
}

/** The services and programs of an installation that sign assertions. */
const signers = ["access", "workspaces", "state", "gateway", "standalone", "runner"];

/** The name of the user of the local NATS. */
export const natsUser = "statehouse";

/** Creates the data folder. Throws `StartError` if it is not writable, or not only for its owner, the caller. */
export async function openDataDirectory(folder: string): Promise<void> {
  try {
    await makeFolder(folder, 0o755);
    requireOwn(folder);
    const probe = path.join(folder, `.probe-${process.pid}`);
    await writeFile(probe, "");
    await rename(probe, path.join(folder, ".writable"));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `The data folder ${folder} is not writable (${reasonOf(error)}); set DATA_DIR to a writable folder.`,
    );
  }
}

/** Returns the installation's secrets. They are created once and stored in `DATA_DIR/secrets.json` with mode 0600. */
export async function openSecrets(folder: string): Promise<Secrets> {
  const file = path.join(folder, "secrets.json");
  const kept = await readIfThere(file);
  if (kept !== undefined) {
    requireOwn(file);
    return JSON.parse(kept);
  }
  const secrets = await newSecrets(signers);
  await writePrivately(file, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}

/** Generates secrets, with a signing key for each of `signers`. */
export async function newSecrets(signers: readonly string[]): Promise<Secrets> {
  const pairs = await Promise.all(
    signers.map(async (name) => [name, await generateAssertionKey()] as const),
  );
  return {
    assertionKeys: Object.fromEntries(
      pairs.map(([name, { privateJwk }]) => [name, JSON.stringify(privateJwk)]),
    ),
    assertionPublicKeys: JSON.stringify(
      Object.fromEntries(pairs.map(([name, { publicJwk }]) => [name, [publicJwk]])),
    ),
    uploadTokenKeys: `k1:${randomBytes(32).toString("base64")}`,
    sealingKeys: `k1:${randomBytes(32).toString("base64")}`,
    natsPassword: randomBytes(32).toString("base64url"),
  };
}

/** Returns the content of a file; undefined if the file does not exist. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new StartError(`${file} cannot be read (${reasonOf(error)}).`);
  }
}

const reasonOf = (error: unknown): string =>
  String((error instanceof Error && Reflect.get(error, "code")) || error);
