import { createHmac } from "node:crypto";
import type { ExtractedOutput, ResourceInstance } from "./extraction.ts";

/** The key of digests, with the id that distinguishes digests of different keys. */
export interface DigestKey {
  id: string;
  /** In base64. */
  key: string;
}

/**
 * Keyed digests of the instances and outputs of a state: what differs between two versions can be found without the
 * states. Without the key a value cannot be found by trying values.
 */
export interface StateDigests {
  keyId: string;
  /** JSON: the digest of each instance of a managed resource, by its address. */
  resources: string;
  /** JSON: digest and sensitivity of each output, by its name. */
  outputs: string;
}

/** 128 bits: enough that two contents never have one digest by chance. */
const DIGEST_BYTES = 16;

/** Returns the digests of a state. Equal content has equal digests at different addresses only by its content. */
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

/** An output whose value, type or sensitivity differs between two versions. Never its value. */
export interface OutputDifference {
  name: string;
  sensitive: boolean;
}

/** What differs between a version and the version before it. */
export interface StateDifference {
  outputs: Record<Change, readonly OutputDifference[]>;
  resources: Record<Change, number>;
}

export type Change = "added" | "changed" | "removed";

/** Why two versions cannot be compared. */
export type Incomparable =
  /** The state is encrypted or could not be read. */
  | "unreadable"
  | "previous-unreadable"
  | "previous-unprocessed"
  /** The version before was read by an earlier release, or its contents were deleted. */
  | "previous-not-digested"
  /** The keys of the digests differ. */
  | "key-changed";

/** The result of comparing a version with the one before it; the first version of a workspace has none before it. */
export type Comparison = { previousVersionId: string | null } & (
  | { difference: StateDifference; incomparable: null }
  | { difference: null; incomparable: Incomparable }
);
