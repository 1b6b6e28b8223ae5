import { type FileHandle, open } from "node:fs/promises";
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { watchStatements } from "@statehouse/postgres";
import { callCount } from "@statehouse/rpc";
import { remainingMs, traceId } from "@statehouse/runtime";

/** The database work of a request until its response is sent: in the database of one service, or in all databases. */
export interface DatabaseCost {
  /** Number of SQL statements, including every BEGIN and COMMIT. */
  statements: number;
  /** Number of transactions; a statement outside a transaction is one. */
  transactions: number;
  /** Number of times that the request waits for a response of PostgreSQL. */
  roundTrips: number;
}

export interface RequestCost extends DatabaseCost {
  /** Number of calls between services. */
  calls: number;
  /**
   * The length of the longest chain of consecutive disk waits. A disk wait is a commit of changes or row locks, or a
   * sync of a file or folder.
   */
  waits: number;
  /** Number of system calls that write to the socket of a connection to PostgreSQL or to the client. */
  writes: number;
  services: Readonly<Record<string, DatabaseCost>>;
  /** The number of round trips of each transaction that changes or locks rows, in the order of their first statements. */
  changes: readonly TransactionCost[];
}

interface TransactionCost {
  service: string;
  roundTrips: number;
}

/**
 * A statement that a request waits for. Only statements with a deadline are recorded: statements of relays and periodic
 * workers have none.
 */
interface Sent {
  service: string;
  /** The trace of the request. Work that an event causes has the trace of the request that recorded the event. */
  trace: string | undefined;
  transaction: OpenTransaction;
  endsTransaction: boolean;
  /** Whether it commits changes or row locks. */
  commits: boolean;
  from: number;
  until: number;
}

/** A transaction, and whether it has changed or locked rows. */
interface OpenTransaction {
  changed: boolean;
}

const CHANGES =
  /\b(?:insert into|update|delete from)\s+["\w]|\bfor (?:no key update|update|key share|share)\b/i;
const SAMPLES = 8;

let sent: Sent[] = [];
let syncs: Pick<Sent, "from" | "until">[] = [];
let writes = 0;

/** The open transaction of each connection. */
let transactions = new WeakMap<object, OpenTransaction>();
const toPostgres = new WeakSet<object>();

function noteOf(service: string, text: string, client: object): Sent | undefined {
  const changes = CHANGES.test(text);
  const begins = /^\s*begin\b/i.test(text);
  const ends = /^\s*(?:commit|rollback)\b/i.test(text);
  const open = transactions.get(client);
  const commits = ends ? open?.changed === true && /commit/i.test(text) : !open && changes;
  const transaction = open ?? { changed: changes };
  if (begins) transactions.set(client, transaction);
  else if (ends) transactions.delete(client);
  else if (changes) transaction.changed = true;
  if (remainingMs() === undefined) return undefined;
  const endsTransaction = ends || !(open || begins);
  const from = performance.now();
  const until = Number.POSITIVE_INFINITY;
  const trace = traceId();
  const note = { service, trace, transaction, endsTransaction, commits, from, until };
  sent.push(note);
  return note;
}

/**
 * Duration added to each sync of a file. The files of a test can be in memory, where a sync takes no time; on a disk it
 * takes some ms, so that concurrent syncs overlap.
 */
const SYNC_MS = 5;

/** Instruments SQL statements, file syncs and socket writes, so that they are counted until the disposal. */
async function instrument(): Promise<Disposable> {
  using restoring = new DisposableStack();
  transactions = new WeakMap();
  watchStatements((service, text, client) => {
    toPostgres.add(client.connection.stream);
    const note = noteOf(service, text, client);
    return (
      note &&
      (() => {
        note.until = performance.now();
      })
    );
  });
  restoring.defer(() => watchStatements(undefined));
  await using file = await open(import.meta.filename);
  const prototype: FileHandle = Object.getPrototypeOf(file);
  const { sync } = prototype;
  prototype.sync = async function (this: FileHandle) {
    const note = { from: performance.now(), until: Number.POSITIVE_INFINITY };
    syncs.push(note);
    await sync.call(this);
    await pause(SYNC_MS);
    note.until = performance.now();
  };
  restoring.defer(() => {
    prototype.sync = sync;
  });
  // Counts calls of these methods as system calls: each call is one, because the messages are smaller than the buffer
  // of a socket.
  for (const name of ["_write", "_writev"] as const) {
    const write: unknown = Reflect.get(Socket.prototype, name);
    if (typeof write !== "function") throw new Error(`sockets have no method ${name}`);
    Reflect.set(Socket.prototype, name, function (this: Socket, ...args: unknown[]): unknown {
      const isResponse = Reflect.get(this, "server") instanceof Object;
      if (isResponse || (toPostgres.has(this) && remainingMs() !== undefined)) writes++;
      return write.apply(this, args);
    });
    restoring.defer(() => void Reflect.set(Socket.prototype, name, write));
  }
  return restoring.move();
}

/**
 * Measures the cost of a request with warm caches, in a stack that runs in this process. Returns the minimum of several
 * measurements, because background work can only increase the cost.
 */
export const writeCostOf = (send: () => Promise<unknown>): Promise<RequestCost> =>
  costAfter(async () => send);

/**
 * Measures the cost of a request like `writeCostOf`, but calls `arrange` before each request, which returns it. Makes no
 * further measurement after one with the cost that is expected.
 */
export async function costAfter(
  arrange: () => Promise<() => Promise<unknown>>,
  isExpected: (cost: RequestCost) => boolean = () => false,
): Promise<RequestCost> {
  using _ = await instrument();
  sent = [];
  await (await arrange())();
  const samples: RequestCost[] = [];
  const earlier = new Set<string | undefined>();
  for (let sample = 0; sample < SAMPLES; sample++) {
    const send = await arrange();
    for (const { trace } of sent) earlier.add(trace);
    sent = [];
    syncs = [];
    writes = 0;
    const calls = callCount();
    await send();
    // Excludes work that events of earlier requests cause during this request.
    const own = sent.filter(({ trace }) => !earlier.has(trace));
    const cost = costOfSent(own, { calls: callCount() - calls, writes });
    if (isExpected(cost)) return cost;
    samples.push(cost);
  }
  return samples.reduce(least);
}

/** Measures the cost of a request like `writeCostOf`, but returns only the statements and calls. */
export async function costOf(send: () => Promise<unknown>) {
  const { statements, calls } = await writeCostOf(send);
  return { statements, calls };
}

const costOfSent = (
  all: readonly Sent[],
  counted: Pick<RequestCost, "calls" | "writes">,
): RequestCost => ({
  ...inDatabase(all),
  ...counted,
  waits: longestSequence([...all.filter(({ commits }) => commits), ...syncs]),
  services: Object.fromEntries(
    [...Map.groupBy(all, ({ service }) => service)].map(([service, own]) => [
      service,
      inDatabase(own),
    ]),
  ),
  changes: [...Map.groupBy(all, ({ transaction }) => transaction)]
    .filter(([{ changed }]) => changed)
    .map(([, own]) => ({ service: own[0]?.service ?? "", roundTrips: longestSequence(own) })),
});

const inDatabase = (all: readonly Sent[]): DatabaseCost => ({
  statements: all.length,
  transactions: all.filter(({ endsTransaction }) => endsTransaction).length,
  roundTrips: longestSequence(all),
});

/**
 * Returns the length of the longest chain of consecutive statements or syncs. Statements or syncs that overlap count as
 * one, because the request waits for them together.
 */
function longestSequence(all: readonly Pick<Sent, "from" | "until">[]): number {
  let length = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { from, until } of all.toSorted((a, b) => a.until - b.until)) {
    if (from < end) continue;
    length++;
    end = until;
  }
  return length;
}

const least = (one: RequestCost, other: RequestCost): RequestCost => ({
  ...leastInDatabase(one, other),
  calls: Math.min(one.calls, other.calls),
  waits: Math.min(one.waits, other.waits),
  writes: Math.min(one.writes, other.writes),
  services: Object.fromEntries(
    Object.entries(one.services).map(([service, cost]) => [
      service,
      leastInDatabase(cost, other.services[service] ?? cost),
    ]),
  ),
  changes: total(one.changes) <= total(other.changes) ? one.changes : other.changes,
});

const total = (changes: readonly TransactionCost[]): number =>
  changes.reduce((sum, { roundTrips }) => sum + roundTrips, 0);

const leastInDatabase = (one: DatabaseCost, other: DatabaseCost): DatabaseCost => ({
  statements: Math.min(one.statements, other.statements),
  transactions: Math.min(one.transactions, other.transactions),
  roundTrips: Math.min(one.roundTrips, other.roundTrips),
});
