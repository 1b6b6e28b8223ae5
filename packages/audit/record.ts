import { createHash, randomBytes } from "node:crypto";
import { INSTALLATION } from "@statehouse/events";
import type { InsertAtCommit } from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import { type ActorType, currentActor, traceId } from "@statehouse/runtime";

export type Outcome = "succeeded" | "refused" | "failed";

/** The values of an audit record. They never contain a secret or a value of a state. */
export interface AuditRecord {
  /** The id of the organization; undefined or empty if the record concerns the whole installation. */
  organization?: string | undefined;
  /** Noun and verb: `workspace.lock`. */
  action: string;
  resource: { type: string; id?: string | undefined };
  /** The names of the attributes that a change has set, spelled as in API documents: `auto-apply`. */
  changedAttributes?: readonly string[];
  /** Default: `succeeded`. */
  outcome?: Outcome;
  /** The code of the error, unless the outcome is `succeeded`. */
  code?: string | undefined;
}

/** The values of an audit record that come from the current request or job. */
export interface Circumstance {
  actor_type: ActorType | "unknown";
  actor_id: string;
  token_id: string | null;
  address: string | null;
  request_id: string | null;
}

/**
 * Returns the actor, client address and request id of the current request or job. If it has no actor, the actor is the
 * service `service` itself.
 */
export function circumstance(service: string): Circumstance {
  const { type, id, tokenId, address } = currentActor() ?? { type: "service", id: service };
  return {
    actor_type: type,
    actor_id: id,
    token_id: tokenId ?? null,
    address: address ?? null,
    request_id: traceId() ?? null,
  };
}

/** Returns the salted digest of an address. The chain of records covers this digest. */
export const addressDigest = (salt: Buffer, address: string): Buffer =>
  createHash("sha256").update(salt).update(address).digest();

function saltedAddress(address: string | null) {
  if (address === null) return {};
  const salt = randomBytes(16);
  return { address_salt: bytea(salt), address_digest: bytea(addressDigest(salt, address)) };
}

const bytea = (bytes: Buffer): string => `\\x${bytes.toString("hex")}`;

/** Returns the columns that describe the action and its resource. */
export const actionColumns = ({
  organization,
  action,
  resource,
}: Pick<AuditRecord, "organization" | "action" | "resource">) => ({
  organization: organization || INSTALLATION,
  action,
  resource_type: resource.type,
  resource_id: resource.id ?? null,
});

/**
 * Converts an audit record to a row for `insertRecords`. Adds the actor, client address and request id of the current
 * request or job.
 */
export const rowOf = (record: AuditRecord, service: string) => {
  const { changedAttributes = [], outcome = "succeeded", code = null } = record;
  const by = circumstance(service);
  return {
    id: newId("ae"),
    ...actionColumns(record),
    ...by,
    ...saltedAddress(by.address),
    changed_attributes: changedAttributes,
    outcome,
    code,
  };
};

export type Row = ReturnType<typeof rowOf>;

/** SQL: inserts records from a JSON array of rows. */
export const insertRecords: InsertAtCommit = (rows) => `
  insert into audit_records (id, organization, actor_type, actor_id, token_id, address,
    address_salt, address_digest, action, resource_type, resource_id, changed_attributes, outcome,
    code, request_id)
  select * from jsonb_to_recordset(${rows}::jsonb) as r (id text, organization text, actor_type text,
    actor_id text, token_id text, address text, address_salt bytea, address_digest bytea,
    action text, resource_type text, resource_id text, changed_attributes text[], outcome text,
    code text, request_id text)`;
