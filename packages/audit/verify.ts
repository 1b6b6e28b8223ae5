import { timingSafeEqual } from "node:crypto";
import {
  checkSignature,
  DIGEST_BYTES,
  hashOfBatch,
  type PublicKeys,
  type SignedHead,
} from "./chain.ts";
import { addressDigest } from "./record.ts";
import { type ChainedRecord, digestOfRecord } from "./record-digest.ts";

/** A batch in the form in which it is stored. */
export interface StoredBatch extends SignedHead {
  previousHash: Uint8Array;
  /** The digests of the batch's records, in order. */
  recordDigests: Uint8Array;
}

/** A record in the form in which it is stored. */
export interface StoredRecord extends ChainedRecord {
  position: number;
  /** Null if the address was removed, or if there was none. */
  address: string | null;
  addressSalt: Buffer | null;
}

/** The members of a kept head that the verification needs. */
export type KeptHead = Pick<SignedHead, "hash" | "sealedAt">;

export interface VerifyOptions {
  service: string;
  keys: PublicKeys;
  /** Heads that were kept outside the database, keyed by `headKey`. */
  heads: ReadonlyMap<string, KeptHead>;
  /** Retention can have deleted batches that were sealed before this time, but no batch that was sealed later. */
  keptSince: Date;
}

/** Returns the key of a head in `VerifyOptions.heads`. */
export const headKey = (head: Pick<SignedHead, "service" | "organization" | "number">): string =>
  `${head.service} ${head.organization} ${head.number}`;

/** The result of verifying the chain of one organization. */
export interface Verified {
  organization: string;
  batches: number;
  records: number;
  /** The number of batches whose records were deleted by retention. */
  withoutRecords: number;
  /**
   * The number of batches whose signing key is no longer known. The hashes of later batches still cover these batches.
   */
  unknownKeys: number;
  /** The number of the latest batch; undefined if there is none. */
  last: number | undefined;
}

const same = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

/**
 * Verifies the chain of one organization, batch by batch, in the order of their numbers. `report` receives one sentence
 * for each finding.
 */
export function createChainCheck(
  organization: string,
  { service, keys, heads, keptSince }: VerifyOptions,
  report: (finding: string) => void,
) {
  const verified: Verified = {
    organization,
    batches: 0,
    records: 0,
    withoutRecords: 0,
    unknownKeys: 0,
    last: undefined,
  };
  let first: number | undefined;
  let previous: StoredBatch | undefined;
  let unknownKey = false;
  const nameOf = ({ number }: StoredBatch) => `batch ${number} of ${organization}`;
  const keptHeadOf = ({ number }: StoredBatch): KeptHead | undefined =>
    heads.get(headKey({ service, organization, number }));
  const isOld = ({ sealedAt }: KeptHead): boolean => new Date(sealedAt) < keptSince;
  // The kept head takes precedence: in the database, `sealedAt` can have been edited together with `keyId`.
  const canBeDeleted = (batch: StoredBatch): boolean => isOld(keptHeadOf(batch) ?? batch);

  const checkPlace = (batch: StoredBatch): void => {
    if (!previous) {
      first = batch.number;
      // After a deletion by retention, the chain begins with the last of the deleted batches.
      if (first > 1 && !canBeDeleted(batch)) {
        report(`Batch ${first - 1} of ${organization} is missing.`);
      }
    } else if (batch.number !== previous.number + 1) {
      report(`Batch ${previous.number + 1} of ${organization} is missing.`);
    } else if (!same(batch.previousHash, Buffer.from(previous.hash, "hex"))) {
      report(
        `Batch ${batch.number} of ${organization} does not continue batch ${previous.number}.`,
      );
    }
  };

  const checkHead = (batch: StoredBatch): void => {
    const hash = hashOfBatch(batch, batch.recordDigests).toString("hex");
    if (hash !== batch.hash) report(`The hash of ${nameOf(batch)} is not that of its records.`);
    const signature = checkSignature(batch, keys);
    unknownKey = signature === "unknown key";
    if (unknownKey) verified.unknownKeys++;
    if (signature === "invalid") report(`The signature of ${nameOf(batch)} is invalid.`);
    const kept = keptHeadOf(batch);
    if (kept && kept.hash !== batch.hash) {
      report(
        `Batch ${batch.number} of ${organization} differs from its head that was kept outside the database: the chain was recomputed.`,
      );
    }
  };

  const checkRecords = (batch: StoredBatch, records: readonly StoredRecord[]): void => {
    if (records.length === 0 && batch.records > 0) {
      if (canBeDeleted(batch)) {
        verified.withoutRecords++;
        return;
      }
      report(`All ${batch.records} records of ${nameOf(batch)} were deleted.`);
      return;
    }
    const byPosition = new Map(records.map((record) => [record.position, record]));
    for (let position = 0; position < batch.records; position++) {
      const record = byPosition.get(position);
      byPosition.delete(position);
      if (!record) {
        report(`Record ${position + 1} of ${batch.records} in ${nameOf(batch)} was deleted.`);
        continue;
      }
      verified.records++;
      const start = position * DIGEST_BYTES;
      const digest = batch.recordDigests.subarray(start, start + DIGEST_BYTES);
      if (!same(digest, digestOfRecord(record))) {
        report(`Record ${record.id} in ${nameOf(batch)} was edited.`);
      } else if (!addressIsGenuine(record)) {
        report(`The address of record ${record.id} in ${nameOf(batch)} was edited.`);
      }
    }
    for (const { id } of byPosition.values()) {
      report(`Record ${id} was added to ${nameOf(batch)} after it was sealed.`);
    }
  };

  return {
    /** Adds the next batch with its records in the order of their positions. */
    add(batch: StoredBatch, records: readonly StoredRecord[]): void {
      checkPlace(batch);
      checkHead(batch);
      checkRecords(batch, records);
      verified.batches++;
      verified.last = batch.number;
      previous = batch;
    },
    /** Ends the verification and returns its result. */
    end(): Verified {
      if (unknownKey && previous) {
        report(
          `The latest, ${nameOf(previous)}, is signed with a key that ASSERTION_PUBLIC_KEYS does not contain.`,
        );
      }
      for (const [key, head] of heads) {
        const [of, organizationOfHead, number] = key.split(" ");
        if (of !== service || organizationOfHead !== organization) continue;
        const isLater = Number(number) > (verified.last ?? 0);
        const isEarlier = first !== undefined && Number(number) < first;
        if (isLater || (isEarlier && !isOld(head))) {
          report(`Batch ${number} of ${organization} was sealed, but is missing.`);
        }
      }
      return verified;
    },
  };
}

/** Returns whether the address matches its recorded digest. Returns true if the address was removed. */
function addressIsGenuine(record: StoredRecord): boolean {
  if (record.address === null) return true;
  if (record.addressSalt === null || record.addressDigest === null) return false;
  return same(addressDigest(record.addressSalt, record.address), record.addressDigest);
}
