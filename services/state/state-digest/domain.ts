import { createHmac } from "node:crypto";
import type { ExtractedOutput, ResourceInstance } from "../extraction/domain.ts";

/** The key with which digests are computed. Its id distinguishes its digests from those of other keys. */
export interface DigestKey {
  id: string;
  /** In base64. */
  key: string;
}

/**
 * Keyed digests of the instances and outputs of a state. They show what differs between two versions, so the states
 * need not be read. Without the key, a value cannot be found by trying candidates.
 */
export interface StateDigests {
  keyId: string;
  /** JSON: the digest of each instance of a managed resource, by its address. */
  resources: string;
  /** JSON: digest and sensitivity of each output, by its name. */
  outputs: string;
}

/** 128 bits, so that two different contents never have the same digest by chance. */
const DIGEST_BYTES = 16;

/**
 * Returns the digests of a state. Each digest includes the address or name, so equal values in two places have
 * different digests.
 */
export function digestsOf(
  {
    instances,
    outputs,
  }: { instances: readonly ResourceInstance[]; outputs: readonly ExtractedOutput[] },
  { id, key }: DigestKey,
): StateDigests {
  const secret = Buffer.from(key, "base64");
  const digest = (...parts: readonly string[]) =>
    createHmac("sha256", secret)
      .update(JSON.stringify(parts))
      .digest()
      .subarray(0, DIGEST_BYTES)
      .toString("base64url");
  const entries = instances.map((one) => [
    one.address,
    digest("resource", one.address, one.provider, one.digest),
  ]);
  const named = outputs.map(({ name, sensitive, detailedTypeJson, valueJson }) => [
    name,
    [digest("output", name, String(sensitive), detailedTypeJson, valueJson), sensitive],
  ]);
  return {
    keyId: id,
    resources: JSON.stringify(Object.fromEntries(entries)),
    outputs: JSON.stringify(Object.fromEntries(named)),
  };
}

export type Change = "added" | "changed" | "removed";

/** An output that was added, removed or changed (value, type or sensitivity). Never contains the value. */
export interface OutputDifference {
  name: string;
  sensitive: boolean;
  change: Change;
}

/** The differences between two versions of a workspace. Never contains values. */
export interface StateDifference {
  /** The number of instances that differ. */
  counts: Record<Change, number>;
  outputs: readonly OutputDifference[];
}

/** Differences with the first instances that differ, ordered by address. */
export interface StateChanges extends StateDifference {
  resources: readonly { address: string; change: Change }[];
}

/** The properties of a version that decide whether it can be compared with another one. */
export interface Comparable {
  processed: boolean;
  /** Whether the contents were deleted. */
  deleted: boolean;
  unreadable: boolean;
  /** Id of the key of the version's digests; null if the version has no digests. */
  keyId: string | null;
}

/** Returns in words why the versions cannot be compared; undefined if they can. */
export function problemOfComparison(
  versions: readonly (Comparable & { id: string })[],
): string | undefined {
  for (const { id, processed, deleted, unreadable, keyId } of versions) {
    if (deleted) return `The contents of state version ${id} have been deleted.`;
    if (!processed) return `State version ${id} has not been processed yet.`;
    if (unreadable) return `State version ${id} cannot be read; it may be encrypted.`;
    if (keyId === null) {
      return `State version ${id} cannot be compared: it has no digests.`;
    }
  }
  const keys = new Set(versions.map(({ keyId }) => keyId));
  return keys.size > 1
    ? "The two state versions cannot be compared: their digests were computed with different keys."
    : undefined;
}

/** Why two versions cannot be compared. */
export type Incomparable =
  /** The state is encrypted or could not be read. */
  | "unreadable"
  | "previous-unreadable"
  | "previous-unprocessed"
  /** The contents of the previous version were deleted. */
  | "previous-not-digested"
  /** The digests of the two versions were computed with different keys. */
  | "key-changed";

/**
 * The result of comparing a version with the previous one. The first version of a workspace has no previous version.
 */
export type Comparison = { previousVersionId: string | null } & (
  | { difference: StateDifference; incomparable: null }
  | { difference: null; incomparable: Incomparable }
);
