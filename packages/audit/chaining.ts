import { INSTALLATION, published, recordEvent } from "@statehouse/events";
import { afterCommit, type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import { AuditHeadSealedSchema as AccessHead } from "@statehouse/proto/statehouse/access/v1/events";
import { AuditHeadSealedSchema as StateHead } from "@statehouse/proto/statehouse/state/v1/events";
import { AuditHeadSealedSchema as WorkspacesHead } from "@statehouse/proto/statehouse/workspaces/v1/events";
import {
  type Changing,
  currentOf,
  type Logger,
  scrapedGauge,
  startLoop,
} from "@statehouse/runtime";
import { moveEndedAttempts } from "./attempts.ts";
import {
  type Batch,
  hashOfBatch,
  type Key,
  NO_PREVIOUS,
  type SignedHead,
  signHead,
} from "./chain.ts";
import { type ChainedRecord, digestOfRecord } from "./record-digest.ts";
import { chainedColumns, latestVerificationFailed, unchainedRecords } from "./stored-chain.ts";

/**
 * The maximum number of records that one transaction seals. A batch therefore contains at most this number of records.
 */
const MAX_RECORDS = 5000;
/**
 * The interval of the sealer in ms. In each interval, the sealer publishes at least one head for each organization with
 * new records.
 */
const INTERVAL_MS = 60_000;
/** An arbitrary number that identifies an advisory lock. The lock lets only one replica at a time seal records. */
const LOCK = 7031406127;

/** For each service, the event that publishes its heads. */
const headEvents = { access: AccessHead, workspaces: WorkspacesHead, state: StateHead } as const;

export interface ChainingOptions {
  database: Database;
  service: keyof typeof headEvents;
  /** The service's own key, which also signs its assertions. */
  key: Changing<Key>;
  logger: Logger;
  /** The maximum number of records that one transaction seals. */
  maxRecords?: number | undefined;
}

type UnchainedRecord = ChainedRecord & { month: string };

/**
 * SQL expression for the open transactions of other databases. PostgreSQL numbers the transactions of all databases
 * together, but transactions of other databases write no records. `pg_locks` is not enough: a transaction has its number
 * before it holds the lock of the number.
 */
export const foreignTransactions = `array(
  select backend_xid::text from pg_stat_activity
  where backend_xid is not null and datname <> current_database())`;

/**
 * Returns the SQL expression for the oldest open transaction that can write records. `foreign` is the placeholder of
 * the transactions of other databases, which an earlier statement read with `foreignTransactions`. If one statement
 * read both, a transaction of another database that ends after the statement's snapshot would count as a transaction of
 * this database.
 */
export const oldestOpenTransaction = (foreign: string): string => `coalesce((
  select open from pg_snapshot_xip(pg_current_snapshot()) as open
  where open::xid::text <> all(${foreign}::text[])
  order by open limit 1
), pg_snapshot_xmax(pg_current_snapshot()))`;

/**
 * Selects unsealed records whose transactions are older than every transaction that is still open, so that no further
 * record can be committed among them. Also selects records whose transaction number is in the future: they come from a
 * database that was restored from a dump.
 */
const unchained = `
  -- index: audit_records_unsealed
  select ${chainedColumns}, to_char(recorded_at at time zone 'UTC', 'YYYY-MM') as month
  from audit_records
  where batch is null and (transaction < ${oldestOpenTransaction("$2")}
    or transaction >= pg_snapshot_xmax(pg_current_snapshot()))
  order by transaction, recorded_at, id limit $1`;

const latestBatches = `
  -- index: audit_batches_pkey
  select o.organization, b.number, b.hash
  from unnest($1::text[]) as o (organization)
  cross join lateral (
    select number, hash from audit_batches
    where organization = o.organization order by number desc limit 1
  ) b`;

const insertBatch = `
  insert into audit_batches (organization, number, sealed_at, first_recorded_at, last_recorded_at,
    records, previous_hash, record_digests, hash, signature, key_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

const assign = `
  -- index: audit_records_pkey
  update audit_records r set batch = $3, position = sealed.position - 1
  from unnest($1::timestamptz[], $2::text[]) with ordinality as sealed (recorded_at, id, position)
  where r.organization = $6 and r.recorded_at = sealed.recorded_at and r.id = sealed.id
    and r.batch is null and r.recorded_at between $4 and $5
  returning r.id`;

/**
 * Moves the attempts of past minutes to the audit records. Seals records into batches, one for each organization and
 * month, and publishes their heads. Returns whether more records may be ready to be sealed. Does nothing while another
 * replica seals.
 */
export async function chainRecords(options: ChainingOptions): Promise<boolean> {
  const { database, service, logger, maxRecords = MAX_RECORDS } = options;
  const key = currentOf(options.key)();
  return await database.transaction(async (em) => {
    const [lock] = await queryIn<{ held: boolean; foreign: string[] }>(
      em,
      `select pg_try_advisory_xact_lock($1) as held, ${foreignTransactions} as foreign`,
      [LOCK],
    );
    if (!lock?.held) return false;
    // The attempts that this statement moves are sealed in a later turn, because this transaction is still open.
    await queryIn(em, moveEndedAttempts);
    const records = await queryIn<UnchainedRecord>(em, unchained, [maxRecords, lock.foreign]);
    const organizations = [...new Set(records.map(({ organization }) => organization))];
    const latest = await latestOf(em, organizations);
    // A batch does not span two months, so that a deleted month contains whole batches.
    const batches = Map.groupBy(records, ({ organization, month }) => `${organization} ${month}`);
    for (const batch of batches.values()) {
      const [{ organization } = { organization: INSTALLATION }] = batch;
      const { number, hash: previousHash } = latest.get(organization) ?? {
        number: 0,
        hash: NO_PREVIOUS,
      };
      const position = { service, organization, number: number + 1, previousHash };
      const { head, hash } = await chainBatch(em, batch, position, key);
      latest.set(organization, { number: head.number, hash });
      await publish(em, service, head);
      afterCommit(em, () => logger.info({ audit_head: head }, "audit records sealed"));
    }
    return records.length === maxRecords;
  });
}

async function latestOf(em: EntityManager, organizations: readonly string[]) {
  const rows = await queryIn<{ organization: string; number: number; hash: Buffer }>(
    em,
    latestBatches,
    [organizations],
  );
  return new Map<string, { number: number; hash: Uint8Array }>(
    rows.map(({ organization, ...batch }) => [organization, batch]),
  );
}

async function chainBatch(
  em: EntityManager,
  records: readonly UnchainedRecord[],
  position: Batch,
  key: Key,
): Promise<{ head: SignedHead; hash: Uint8Array }> {
  const { previousHash, ...signedPosition } = position;
  const digests = Buffer.concat(records.map(digestOfRecord));
  const hash = hashOfBatch(position, digests);
  const sealedAt = new Date().toISOString();
  const head = signHead(
    { ...signedPosition, records: records.length, sealedAt, hash: hash.toString("hex") },
    key,
  );
  const times = records.map(({ recordedAt }) => recordedAt);
  const [first] = times.toSorted();
  const last = times.toSorted().at(-1);
  await queryIn(em, insertBatch, [
    head.organization,
    head.number,
    sealedAt,
    first,
    last,
    head.records,
    previousHash,
    digests,
    hash,
    Buffer.from(head.signature, "base64"),
    head.keyId,
  ]);
  const ids = records.map(({ id }) => id);
  const assigned = await queryIn(em, assign, [
    times,
    ids,
    head.number,
    first,
    last,
    head.organization,
  ]);
  if (assigned.length !== records.length) throw new Error("records changed while they were sealed");
  return { head, hash };
}

async function publish(
  em: EntityManager,
  service: keyof typeof headEvents,
  head: SignedHead,
): Promise<void> {
  const { number, ...signed } = head;
  const { organization } = head;
  const event = published(headEvents[service], organization, {
    ...signed,
    organizationId: organization === INSTALLATION ? "" : organization,
    revision: BigInt(number),
  });
  await recordEvent(em, event);
}

/**
 * Seals records while the service runs, and exposes the age of the oldest unsealed record and the outcome of the latest
 * verification to Prometheus.
 */
export function startChaining(options: ChainingOptions): AsyncDisposable {
  const { database, service, logger } = options;
  const loop = startLoop({
    name: "seal audit records",
    intervalMs: INTERVAL_MS,
    logger,
    work: () => chainRecords(options),
  });
  const unchainedSeconds = scrapedGauge("statehouse/audit", {
    name: "statehouse_audit_unsealed_seconds",
    description: "Age of the oldest audit record that is not sealed yet; 0 if all are sealed",
    attributes: { service },
    maxAgeMs: INTERVAL_MS / 2,
    async read() {
      const { oldest } = await unchainedRecords(database);
      return oldest ? Math.max(0, Date.now() - oldest.getTime()) / 1000 : 0;
    },
  });
  const verificationFailed = scrapedGauge("statehouse/audit", {
    name: "statehouse_audit_verification_failed",
    description: "1 if the latest verification of the audit trail in the last 8 days had findings",
    attributes: { service },
    maxAgeMs: INTERVAL_MS,
    read: async () => Number(await latestVerificationFailed(database)),
  });
  return {
    async [Symbol.asyncDispose]() {
      await unchainedSeconds[Symbol.asyncDispose]();
      await verificationFailed[Symbol.asyncDispose]();
      await loop[Symbol.asyncDispose]();
    },
  };
}
