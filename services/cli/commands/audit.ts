import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import {
  createAudit,
  createTrail,
  headKey,
  type KeptHead,
  type TrailRecord,
  trailRecords,
  unchainedRecords,
  VERIFICATION,
  verifyChains,
} from "@statehouse/audit";
import { microsOfText, textOfMicros } from "@statehouse/audit/time";
import { INSTALLATION } from "@statehouse/events";
import type { Database } from "@statehouse/postgres";
import { readConfig, StartError, settings } from "@statehouse/runtime";
import { openSecrets } from "@statehouse/standalone/data-directory";
import { z } from "zod";
import { parsedArguments } from "./arguments.ts";
import {
  databasesSettings,
  openServiceDatabases,
  organizationIdOf,
  type ServiceDatabases,
} from "./service-databases.ts";

const DAY_MS = 86_400_000;

/** The lines of the help that describe the actions. */
export const auditActions = [
  "Actions:",
  "  verify                  recomputes the chains of the audit records and compares them with the stored ones",
  "    --heads FILE          also compares them with heads that were kept outside the databases: JSON lines of the log or the stream",
  "  export <organization|_> writes records as JSON lines, oldest first; _ for the installation",
  "    --since TIME          only records after this time",
  "",
  "It works on all databases whose address is set or, if none is set, on the data folder of npm start (DATA_DIR).",
];

const usage = `usage: statehouse audit <action>\n\n${auditActions.join("\n")}`;

const keySettings = z.object({
  ASSERTION_PUBLIC_KEYS: settings.ASSERTION_PUBLIC_KEYS.optional(),
});
const retentionSettings = z.object({ AUDIT_RETENTION_DAYS: settings.AUDIT_RETENTION_DAYS });

/** The settings of the command. */
export const auditSettings = databasesSettings
  .extend(keySettings.shape)
  .extend(retentionSettings.shape);

type Print = (line: string) => void;

/** Runs an action of `statehouse audit`. Returns false if `verify` finds that the audit trail was changed. */
export async function runAudit(args: readonly string[], print: Print): Promise<boolean> {
  const options = { heads: { type: "string" }, since: { type: "string" } } as const;
  const { positionals, values } = parsedArguments(args, options, usage);
  const [action, organization, ...more] = positionals;
  await using stack = new AsyncDisposableStack();
  if (action === "verify" && organization === undefined && values.since === undefined) {
    return await verify(await openServiceDatabases(stack), values.heads, print);
  }
  if (action === "export" && organization !== undefined && more.length === 0 && !values.heads) {
    const since = sinceOf(values.since);
    const { databases } = await openServiceDatabases(stack);
    await exportRecords(databases, await organizationIdOf(databases, organization), since);
    return true;
  }
  throw new StartError(usage);
}

function sinceOf(text: string | undefined): number {
  const micros = text === undefined ? 0 : microsOfText(text);
  if (micros === undefined) {
    throw new StartError("--since must be a time: YYYY-MM-DDTHH:MM:SSZ.");
  }
  return micros;
}

async function verify(
  { databases, folder }: ServiceDatabases,
  headsFile: string | undefined,
  print: Print,
): Promise<boolean> {
  const keys = await publicKeys(folder);
  const heads = headsFile === undefined ? new Map() : await readHeads(headsFile);
  const { AUDIT_RETENTION_DAYS: days } = readConfig(retentionSettings);
  const keptSince = new Date(Date.now() - days * DAY_MS);
  if (headsFile !== undefined) print(`${headsFile}: ${heads.size} heads`);
  let findings = 0;
  for (const [service, database] of databases) {
    const before = findings;
    const verified = await verifyChains(
      database,
      { service, keys, heads, keptSince },
      (finding) => {
        findings++;
        print(`FOUND in ${service}: ${finding}`);
      },
    );
    const sum = (of: "batches" | "records" | "withoutRecords" | "unknownKeys") =>
      verified.reduce((total, chain) => total + chain[of], 0);
    const { records: unchained, oldest } = await unchainedRecords(database);
    const facts = [
      `${verified.length} chains, ${sum("batches")} batches, ${sum("records")} records`,
      ...(sum("withoutRecords") > 0
        ? [`${sum("withoutRecords")} batches whose records were deleted by retention`]
        : []),
      ...(sum("unknownKeys") > 0 ? [`${sum("unknownKeys")} batches signed with removed keys`] : []),
      ...(oldest ? [`${unchained} records since ${oldest.toISOString()} are not sealed yet`] : []),
    ];
    print(`${service}: ${facts.join("; ")}`);
    await recordVerification(database, service, findings === before).catch((error: Error) =>
      print(`${service}: this verification is not recorded: ${error.message}`),
    );
  }
  print(findings === 0 ? "The audit trail is unchanged." : `${findings} findings.`);
  return findings === 0;
}

/** Writes the outcome of a verification as an audit record, so that the service can show it as a metric. */
const recordVerification = (
  database: Pick<Database, "query">,
  service: string,
  isUnchanged: boolean,
): Promise<void> =>
  createAudit(database, service).write({
    action: VERIFICATION,
    resource: { type: service },
    ...(isUnchanged ? {} : { outcome: "failed", code: "audit_trail_changed" }),
  });

async function publicKeys(folder: string | undefined) {
  const { ASSERTION_PUBLIC_KEYS: keys } = readConfig(keySettings);
  if (keys) return keys();
  if (folder === undefined) throw new StartError("ASSERTION_PUBLIC_KEYS: is required but not set");
  const { assertionPublicKeys } = await openSecrets(folder);
  return readConfig(z.object({ ASSERTION_PUBLIC_KEYS: settings.ASSERTION_PUBLIC_KEYS }), {
    ASSERTION_PUBLIC_KEYS: assertionPublicKeys,
  }).ASSERTION_PUBLIC_KEYS();
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const logged = z.object({
  audit_head: z.object({
    service: z.string(),
    organization: z.string(),
    number: z.int(),
    sealedAt: z.string(),
    hash,
  }),
});
const published = z.object({
  service: z.string(),
  organization: z.string(),
  revision: z.coerce.number().int(),
  sealedAt: z.string(),
  hash,
});

/** Reads the heads in a file that contains log lines, messages of the stream, or both. Other lines are skipped. */
async function readHeads(file: string): Promise<Map<string, KeptHead>> {
  const heads = new Map<string, KeptHead>();
  const lines = createInterface({ input: createReadStream(file) });
  for await (const line of lines) {
    const value = jsonOf(line);
    const fromLog = logged.safeParse(value).data?.audit_head;
    const fromStream = published.safeParse(value).data;
    const head = fromLog ?? (fromStream && { ...fromStream, number: fromStream.revision });
    if (head) heads.set(headKey(head), head);
  }
  if (heads.size === 0) throw new StartError(`${file} contains no heads of the audit trail.`);
  return heads;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * Writes the audit records of an organization as JSON lines, merged from all databases in the order of the API: by time
 * and then by id. Only one page of each database is in memory at a time.
 */
async function exportRecords(
  databases: ServiceDatabases["databases"],
  organization: string,
  after: number,
): Promise<void> {
  const access = databases.get("access");
  if (access) {
    await createAudit(access, "operator").write({
      organization: organization === INSTALLATION ? undefined : organization,
      action: "audit-trail.export",
      resource: { type: "audit-trail" },
    });
  }
  const trails = [...databases].map(([service, database]) => ({
    service,
    trail: createTrail(database),
  }));
  const complete = await Promise.all(trails.map(({ trail }) => trail.completeUntil()));
  const span = { organization, since: after + 1, until: Math.min(...complete) };
  const readers = trails.map(({ service, trail }) => ({
    service,
    records: trailRecords(trail, span),
  }));
  const heads = await Promise.all(
    readers.map(async ({ service, records }) => ({ service, records, next: await records.next() })),
  );
  for (;;) {
    const [first] = heads
      .flatMap((head) => (head.next.done ? [] : [{ head, record: head.next.value }]))
      .toSorted(
        ({ record: one }, { record: other }) =>
          one.recordedAt - other.recordedAt || (one.id < other.id ? -1 : 1),
      );
    if (!first) return;
    await written(lineOf(first.head.service, first.record));
    first.head.next = await first.head.records.next();
  }
}

const lineOf = (service: string, { recordedAt, ...record }: TrailRecord): string =>
  `${JSON.stringify({ time: textOfMicros(recordedAt), service, ...record })}\n`;

/** Writes a line. If the output's buffer is full, returns a promise that resolves when it has space again. */
const written = (line: string): Promise<void> | undefined =>
  process.stdout.write(line)
    ? undefined
    : new Promise((resolve) => void process.stdout.once("drain", resolve));
