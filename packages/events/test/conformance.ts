// Runs this package in the conformance suite: reads a scenario as JSON from standard input, and prints each received
// event as a line of JSON. The suite compares the packages of all languages.
import process from "node:process";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { type DescMessage, toJson } from "@bufbuild/protobuf";
import { UserCreatedSchema } from "@statehouse/proto/statehouse/access/v1/events";
import { StateVersionProcessedSchema } from "@statehouse/proto/statehouse/state/v1/events";
import {
  DataRetentionPolicySetSchema,
  WorkspaceAutoDestroyDueSchema,
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { deadLetterFiles } from "../dead-letter-files.ts";
import {
  checkpointFile,
  connectNats,
  type Event,
  eventType,
  type NatsLogin,
  type NatsTls,
  on,
  type SnapshotOptions,
  subscribe,
} from "../subscribe.ts";

interface Scenario {
  /** Set to "replay" to call the handlers with the dead letters. Default: events are received. */
  mode?: "replay";
  url: string;
  login?: NatsLogin;
  tls?: NatsTls;
  domain?: string;
  inboxPrefix?: string;
  durable: string;
  filter: string;
  /** The types that have a handler. */
  handled?: readonly string[];
  /** Whether events of other types are processed. */
  otherwise?: boolean;
  maxFailures?: number;
  /** The folder of dead letters. */
  deadLetters?: string;
  /** For each event id, how many times the handler of the event fails. */
  fail?: Readonly<Record<string, number>>;
  /** The ids of events whose handlers fail with a transient error. */
  transient?: readonly string[];
  /** The id of the event whose handler never returns. */
  hangOn?: string;
  /** The id of the event whose handler stops the subscription. */
  stopOn?: string;
  /** The file of the checkpoint. */
  snapshot?: { checkpoint: string };
}

const messages: readonly DescMessage[] = [
  WorkspaceCreatedSchema,
  WorkspaceUpdatedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceDeletedSchema,
  WorkspaceAutoDestroyDueSchema,
  DataRetentionPolicySetSchema,
  StateVersionProcessedSchema,
  UserCreatedSchema,
];

const scenario: Scenario = JSON.parse(await text(process.stdin));

const print = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`);

class Transient extends Error {}

const stop = Promise.withResolvers<void>();
const failures = new Map<string, number>();
const revisions = new Map<string, number>();

/** Prints the event, and fails if the scenario requires it. */
async function handle(event: Event, message: unknown): Promise<void> {
  const { id, subject, revision, time, json: _, ...rest } = event;
  const applied = revision > (revisions.get(subject) ?? 0);
  const failed = (failures.get(id) ?? 0) < (scenario.fail?.[id] ?? 0);
  print({
    ...{ handled: id, ...rest, subject, revision: String(revision), time },
    ...{ applied, failed, message },
  });
  if (failed) {
    failures.set(id, (failures.get(id) ?? 0) + 1);
    throw scenario.transient?.includes(id) ? new Transient("transient") : new Error("cannot");
  }
  if (applied) revisions.set(subject, revision);
  if (id === scenario.hangOn) await new Promise(() => {});
  if (id === scenario.stopOn) {
    stop.resolve();
    await pause(200);
    print({ finished: id });
  }
}

const handlers = Object.assign(
  {},
  ...messages
    .filter((schema) => scenario.handled?.includes(eventType(schema)))
    .map((schema) => on(schema, (message, event) => handle(event, toJson(schema, message)))),
);
const otherwise = scenario.otherwise && ((event: Event) => handle(event, JSON.parse(event.json)));
const files = deadLetterFiles(scenario.deadLetters ?? "");

const log = (level: string) => (about: Record<string, unknown>, message: string) =>
  print({ log: level, message, ...("err" in about && { error: String(about.err) }) });

/** Returns snapshots that print when they begin and when they are complete. */
function snapshotOf(settings: NonNullable<Scenario["snapshot"]>): SnapshotOptions {
  return {
    checkpoint: checkpointFile(settings.checkpoint),
    compareEveryMs: 100,
    begin: async () => {
      print({ snapshot: "begins" });
      return async () => print({ snapshot: "complete" });
    },
  };
}

async function receive(): Promise<void> {
  const { url, login, tls, domain, inboxPrefix, durable, filter, maxFailures } = scenario;
  await using nats = connectNats({ url, name: "conformance", login, tls, domain, inboxPrefix });
  await using _subscription = subscribe({
    ...{ nats, durable, filter, handlers },
    ...(otherwise && { otherwise }),
    ...(maxFailures !== undefined && { maxFailures }),
    ...(scenario.snapshot && { snapshot: snapshotOf(scenario.snapshot) }),
    deadLetter: files.store,
    isTransient: (error) => error instanceof Transient,
    logger: { info: log("info"), warn: log("warn"), error: log("error") },
  });
  await stop.promise;
}

process.once("SIGTERM", stop.resolve);
try {
  if (scenario.mode === "replay") {
    const result = await files.replay(handlers, otherwise || undefined);
    print({ ...result, left: await files.count() });
  } else await receive();
  print({ ended: true });
} catch (error) {
  print({ refused: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}
