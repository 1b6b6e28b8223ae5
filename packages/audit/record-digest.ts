import { createHash } from "node:crypto";

/** One record of the audit trail, in the form that the chain covers. */
export interface ChainedRecord {
  /** ISO 8601 in UTC with microseconds. It is a text, because a `Date` has only milliseconds. */
  recordedAt: string;
  id: string;
  /** The organization's id, or `_` for a record that concerns the whole installation. */
  organization: string;
  actorType: string;
  actorId: string | null;
  tokenId: string | null;
  /**
   * The salted digest of the client's address. The chain does not cover the address itself, so that the address can be
   * removed.
   */
  addressDigest: Uint8Array | null;
  action: string;
  resourceType: string;
  resourceId: string | null;
  changedAttributes: string[];
  outcome: string;
  code: string | null;
  attempts: number;
  requestId: string | null;
}

/** The version of the encoding. Any change of the encoding or of this number makes all existing chains invalid. */
const ENCODING = 1;

/** Returns the canonical encoding of a record: a JSON array of its members in this order, without spaces. */
export const encodeRecord = (record: ChainedRecord): string =>
  JSON.stringify([
    ENCODING,
    record.recordedAt,
    record.id,
    record.organization,
    record.actorType,
    record.actorId,
    record.tokenId,
    record.addressDigest && Buffer.from(record.addressDigest).toString("hex"),
    record.action,
    record.resourceType,
    record.resourceId,
    record.changedAttributes,
    record.outcome,
    record.code,
    record.attempts,
    record.requestId,
  ]);

/** Returns the SHA-256 of a record's canonical encoding. */
export const digestOfRecord = (record: ChainedRecord): Buffer =>
  createHash("sha256").update(encodeRecord(record)).digest();
