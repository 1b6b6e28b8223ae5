import { INSTALLATION } from "@statehouse/events";
import type { Database } from "@statehouse/postgres";
import {
  createChainCheck,
  type StoredBatch,
  type StoredRecord,
  type Verified,
  type VerifyOptions,
} from "./verify.ts";

/** SQL: the columns of a record except its time and the client's address. */
export const recordColumns = `id, organization, actor_type as "actorType", actor_id as "actorId",
    token_id as "tokenId", action, resource_type as "resourceType", resource_id as "resourceId",
    changed_attributes as "changedAttributes", outcome, code, attempts, request_id as "requestId"`;

/** SQL: the columns of a record that the chain covers. */
export const chainedColumns = `
    to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "recordedAt",
    address_digest as "addressDigest", ${recordColumns}`;

const PAGE = 100;

const organizations = `
  -- index: audit_batches_pkey
  select distinct organization from audit_batches order by organization`;

const batches = `
  -- index: audit_batches_pkey
  select organization, number, to_char(sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "sealedAt",
    records, previous_hash as "previousHash", record_digests as "recordDigests",
    encode(hash, 'hex') as hash, encode(signature, 'base64') as signature, key_id as "keyId"
  from audit_batches where organization = $1 and number > $2 order by number limit $3`;

const recordsOfBatch = `
  -- index: audit_records_by_batch
  select ${chainedColumns}, position, address, address_salt as "addressSalt"
  from audit_records where organization = $1 and batch = $2 order by position`;

const orphans = `
  -- index: audit_records_by_batch
  select id, organization, batch from audit_records r
  where batch is not null and not exists (
    select from audit_batches b where b.organization = r.organization and b.number = r.batch
  ) order by id limit 100`;

const oldestUnchained = `
  -- index: audit_records_unsealed
  select count(*)::int as records, min(recorded_at) as oldest from audit_records where batch is null`;

/** The action under which a verification is recorded. */
export const VERIFICATION = "command.audit.verify";

const latestVerification = `
  -- index: audit_records_pkey
  select outcome from audit_records
  where organization = $1 and action = $2 and recorded_at > now() - interval '8 days'
  order by recorded_at desc limit 1`;

/** Verifies the chains in the database of one service. `report` receives one sentence for each finding. */
export async function verifyChains(
  { query }: Pick<Database, "query">,
  options: VerifyOptions,
  report: (finding: string) => void,
): Promise<Verified[]> {
  const { service, heads } = options;
  const stored = await query<{ organization: string }>(organizations);
  const outside = [...heads.keys()]
    .map((key) => key.split(" "))
    .flatMap(([of, organization]) => (of === service && organization ? [organization] : []));
  const all = new Set([...stored.map(({ organization }) => organization), ...outside]);
  const verified: Verified[] = [];
  for (const organization of all) {
    const check = createChainCheck(organization, options, report);
    for (let after = 0, more = true; more; ) {
      const page = await query<Omit<StoredBatch, "service">>(batches, [organization, after, PAGE]);
      for (const batch of page) {
        const { number } = batch;
        const records = await query<StoredRecord>(recordsOfBatch, [organization, number]);
        check.add({ ...batch, service }, records);
        after = number;
      }
      more = page.length === PAGE;
    }
    verified.push(check.end());
  }
  for (const { id, organization, batch } of await query<Record<string, string>>(orphans)) {
    report(`Record ${id} names batch ${batch} of ${organization}, but that batch does not exist.`);
  }
  return verified;
}

/** Returns whether the latest verification had findings. False if no verification was recorded in the last 8 days. */
export async function latestVerificationFailed({
  query,
}: Pick<Database, "query">): Promise<boolean> {
  const parameters = [INSTALLATION, VERIFICATION];
  const [record] = await query<{ outcome: string }>(latestVerification, parameters);
  return record?.outcome === "failed";
}

/**
 * Returns the number of records that are not sealed yet, and the time of the oldest of these records; null if all
 * records are sealed.
 */
export async function unchainedRecords({
  query,
}: Pick<Database, "query">): Promise<{ records: number; oldest: Date | null }> {
  const [row] = await query<{ records: number; oldest: Date | null }>(oldestUnchained);
  return row ?? { records: 0, oldest: null };
}
