import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { type Changing, derivedFrom } from "@statehouse/runtime";

/**
 * The column and row that contain a sealed value. The value is bound to this place and cannot be decrypted for another
 * one.
 */
export interface ColumnLocation {
  table: string;
  column: string;
  rowId: string;
}

export interface ColumnCipher {
  /**
   * Encrypts a value for this place. Returns `id:` followed by nonce, tag and ciphertext in base64, where `id` is the
   * id of the key.
   */
  encryptColumn(plain: string, location: ColumnLocation): string;
  /** Decrypts a value. Throws if the key is unknown or the value was altered or moved. */
  decryptColumn(encrypted: string, location: ColumnLocation): string;
  /** Returns whether the value was encrypted with an older key and should be re-encrypted with the current one. */
  isStale(encrypted: string): boolean;
}

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates a cipher from `id:base64key,…`. Each key has 32 bytes; the first encrypts, all decrypt. If the keys can
 * change, `keys` is a function that returns the current ones. Throws if `keys` is malformed.
 */
export function createColumnCipher({ keys }: { keys: Changing<string> }): ColumnCipher {
  const ring = derivedFrom(keys, parseKeys);
  return {
    encryptColumn(plain, location) {
      const { currentId, currentKey } = ring();
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, currentKey, nonce);
      cipher.setAAD(associatedData(currentId, location));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      const encrypted = Buffer.concat([nonce, cipher.getAuthTag(), body]);
      return `${currentId}:${encrypted.toString("base64")}`;
    },
    decryptColumn(encrypted, location) {
      const id = keyIdOf(encrypted);
      const key = ring().keys.get(id);
      if (!key) throw new Error(`sealed value: no key with id ${JSON.stringify(id)}`);
      const bytes = Buffer.from(encrypted.slice(id.length + 1), "base64");
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(associatedData(id, location));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([body, decipher.final()]).toString("utf8");
    },
    isStale: (encrypted) => keyIdOf(encrypted) !== ring().currentId,
  };
}

/** A key for one purpose, which reveals nothing about the key from which it is derived. */
export interface DerivedKey {
  /** The id of the key from which it is derived. */
  id: string;
  /** In base64. */
  key: string;
}

/** Derives a key for `purpose` from the first key of `id:base64key,…`. Throws if `keys` is malformed. */
export function deriveKey(keys: string, purpose: string): DerivedKey {
  const { currentId: id, currentKey } = parseKeys(keys);
  const derived = hkdfSync("sha256", currentKey, "", `statehouse ${purpose}`, 32);
  return { id, key: Buffer.from(derived).toString("base64") };
}

interface KeyRing {
  currentId: string;
  currentKey: Buffer;
  keys: ReadonlyMap<string, Buffer>;
}

function parseKeys(keys: string): KeyRing {
  const ring = new Map<string, Buffer>();
  for (const entry of keys.split(",").filter((part) => part.trim() !== "")) {
    const [, id, encoded] = /^\s*([A-Za-z0-9_-]+):([A-Za-z0-9+/=]+)\s*$/.exec(entry) ?? [];
    const key = Buffer.from(encoded ?? "", "base64");
    // The message never quotes the entry, because the entry contains a key.
    if (!id || key.length !== 32) {
      throw new Error(
        "sealing keys: each must be id:base64 with 32 bytes; separate keys with commas",
      );
    }
    if (ring.has(id)) throw new Error(`sealing keys: id ${id} appears twice`);
    ring.set(id, key);
  }
  const [current] = ring;
  if (!current) throw new Error("sealing keys: at least one key is required");
  const [currentId, currentKey] = current;
  return { currentId, currentKey, keys: ring };
}

function keyIdOf(encrypted: string): string {
  return encrypted.slice(0, Math.max(0, encrypted.indexOf(":")));
}

function associatedData(keyId: string, { table, column, rowId }: ColumnLocation): Buffer {
  // The place is encoded as JSON, so that two different places never have the same bytes.
  return Buffer.from(JSON.stringify([keyId, table, column, rowId]), "utf8");
}
