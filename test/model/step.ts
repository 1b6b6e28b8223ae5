import fc from "fast-check";
import type { Client } from "./moment.ts";
import type { Action, Time } from "./rules.ts";
import type { Kind } from "./upload.ts";

/** Who holds the lock; where nobody does, a write takes it instead. */
export type Author = Client | "holder";

/** A version: the nth from the newest on of those that are like this, wrapping around; any if none is. */
export interface Pick {
  like: "any" | "pending" | "finalized" | "deleted";
  nth: number;
}

/** Something that one client does. */
export type Command =
  | { do: "lock" | "unlock" | "forceUnlock"; by: Author }
  | ({ do: "create"; by: Author } & CreateChoice)
  | { do: "upload"; of: Pick; kind: Kind; bytes: Bytes }
  | { do: "rollBack"; by: Author; to: Pick }
  | { do: Action; by: Client; of: Pick }
  | { do: "retain"; by: Client; letsGo: boolean }
  | { do: "download"; of: Pick; kind: Kind }
  /** Somebody of another organization tries everything on a version. */
  | { do: "intrude"; of: Pick };

/** `slow`: right, and others may come while it is under way. `partial`: it breaks off. */
export type Bytes = "right" | "slow" | "wrong" | "partial";

export interface CreateChoice {
  /** Against the newest version's. */
  serial: -1 | 0 | 1;
  lineage: "same" | "other" | "none";
  /** Makes other bytes of the same serial. */
  variant: 0 | 1;
  force: boolean;
  inline: boolean;
  json: boolean;
}

export const faults = [
  "killState",
  "killWorkspaces",
  "cutState",
  "cutWorkspaces",
  "cutBetween",
  "silentStore",
  "silentState",
] as const;
export type Fault = (typeof faults)[number];

/** What happens before everybody looks again. */
export type Step =
  | { commands: readonly { command: Command; afterMs: number }[]; fault?: Fault; faultMs?: number }
  | { pass: Time }
  /** Nobody does anything, for as long as the collector needs to come by. */
  | { pass: "collection" };

export type History = readonly Step[];

const client = fc.constantFrom<Client>(0, 1);
const author = fc.constantFrom<Author>("holder", "holder", "holder", "holder", 0, 1);
const picking = (...likes: Pick["like"][]) =>
  fc.record({ like: fc.constantFrom(...likes), nth: fc.constantFrom(0, 0, 1, 2) });
/** One that is finalized and not current. */
const earlier = fc.record({
  like: fc.constant("finalized" as const),
  nth: fc.constantFrom(1, 1, 2),
});
const any = picking("any");
const kind = fc.constantFrom<Kind>("raw", "raw", "json");

const creation = fc.record({
  do: fc.constant("create" as const),
  by: author,
  serial: fc.constantFrom<-1 | 0 | 1>(1, 1, 1, 1, 1, 0, -1),
  lineage: fc.constantFrom<CreateChoice["lineage"]>(
    "same",
    "same",
    "same",
    "same",
    "other",
    "none",
  ),
  variant: fc.constantFrom<0 | 1>(0, 0, 1),
  force: fc.constantFrom(false, false, false, true),
  inline: fc.boolean(),
  json: fc.constantFrom(false, false, true),
});

const locking = fc.record({
  do: fc.constantFrom<"lock" | "unlock" | "forceUnlock">("lock", "unlock", "unlock", "forceUnlock"),
  by: author,
});

const uploading = fc.record({
  do: fc.constant("upload" as const),
  of: picking("pending", "pending", "pending", "any", "deleted", "deleted"),
  kind,
  bytes: fc.constantFrom<Bytes>("right", "right", "slow", "slow", "wrong", "partial"),
});

const rolling = fc.record({
  do: fc.constant("rollBack" as const),
  by: author,
  to: picking("finalized", "finalized", "finalized", "deleted", "any"),
});

const acting = fc.oneof(
  fc.record({
    do: fc.constant("softDelete" as const),
    by: client,
    of: fc.oneof({ weight: 3, arbitrary: earlier }, { weight: 1, arbitrary: any }),
  }),
  fc.record({
    do: fc.constantFrom("restore" as const, "permanentlyDelete" as const),
    by: client,
    of: picking("deleted", "deleted", "deleted", "any"),
  }),
);

const downloading = fc.record({ do: fc.constant("download" as const), of: any, kind });
const intruding = fc.record({ do: fc.constant("intrude" as const), of: any });

const retaining = fc.record({
  do: fc.constant("retain" as const),
  by: client,
  letsGo: fc.constantFrom(true, true, false),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 1, arbitrary: retaining },
  { weight: 6, arbitrary: creation },
  { weight: 4, arbitrary: uploading },
  { weight: 4, arbitrary: locking },
  { weight: 3, arbitrary: rolling },
  { weight: 5, arbitrary: acting },
  { weight: 1, arbitrary: downloading },
  { weight: 1, arbitrary: intruding },
);

const timed = (command: fc.Arbitrary<Command>) =>
  fc.record({ command, afterMs: fc.constantFrom(0, 0, 0, 2, 5, 12) });

const alone = timed(command).map((only): Step => ({ commands: [only] }));
const together = fc
  .array(timed(command), { minLength: 2, maxLength: 3 })
  .map((commands): Step => ({ commands }));
const passing = fc.constantFrom<Step>({ pass: "window" }, { pass: "days" }, { pass: "years" });
const disturbed = fc
  .record({
    commands: fc.array(timed(command), { minLength: 1, maxLength: 2 }),
    fault: fc.constantFrom(...faults),
    faultMs: fc.constantFrom(0, 2, 5, 10, 20, 40),
  })
  .map((step): Step => step);

const first: Step = { commands: [{ command: { do: "lock", by: 0 }, afterMs: 0 }] };

const written = (inline: boolean): Step => ({
  commands: [
    {
      command: {
        ...{ do: "create", by: "holder", serial: 1, lineage: "same", variant: 0 },
        ...{ force: false, inline, json: false },
      },
      afterMs: 0,
    },
  ],
});

const newestOne: Pick = { like: "any", nth: 0 };
const finished: Step = {
  commands: [{ command: { do: "upload", of: newestOne, kind: "raw", bytes: "right" }, afterMs: 0 }],
};

/** Most begin with something to act on. */
const beginnings = fc.constantFrom<History>(
  [],
  [first],
  [first, written(true), written(true)],
  [first, written(false), finished, written(true)],
  [first, written(false), finished, written(true), written(false)],
);

/** A version waits for its bytes; while they come, something else happens to it. */
const racing = fc
  .tuple(
    creation.map((choice) => ({ ...choice, inline: false })),
    fc.array(timed(uploading.map((choice) => ({ ...choice, of: newestOne }))), {
      minLength: 1,
      maxLength: 2,
    }),
    timed(fc.oneof(creation, locking, rolling)),
  )
  .map(([pending, uploads, other]): Step[] => [
    { commands: [{ command: pending, afterMs: 0 }] },
    { commands: [...uploads, other] },
  ]);

/** Everything there is grows old under a policy, while something else happens. */
const collected = fc
  .tuple(timed(retaining), timed(command))
  .map(([policy, other]): Step[] => [
    { commands: [policy] },
    { pass: "years" },
    { commands: [other] },
    { pass: "collection" },
  ]);

/** Several give the lock back, or take it, at the same time. */
const unlocking = fc
  .array(fc.tuple(locking, fc.constantFrom(0, 1, 3)), { minLength: 2, maxLength: 3 })
  .map((several): Step[] => [
    first,
    { commands: several.map(([command, afterMs]) => ({ command, afterMs })) },
  ]);

const histories = (step: fc.Arbitrary<Step>, maxLength: number): fc.Arbitrary<History> =>
  fc
    .tuple(
      beginnings,
      fc.array(
        fc.oneof(
          { weight: 6, arbitrary: step.map((one) => [one]) },
          { weight: 1, arbitrary: racing },
          { weight: 1, arbitrary: unlocking },
          { weight: 1, arbitrary: collected },
        ),
        { minLength: 3, maxLength },
      ),
    )
    .map(([beginning, steps]) => [...beginning, ...steps.flat()]);

/** Clients one after the other and at the same time, and time. */
export const undisturbed = histories(
  fc.oneof(
    { weight: 5, arbitrary: alone },
    { weight: 4, arbitrary: together },
    { weight: 1, arbitrary: passing },
  ),
  14,
);

/** The same, and every third step something breaks. */
export const withFaults = histories(
  fc.oneof(
    { weight: 5, arbitrary: alone },
    { weight: 2, arbitrary: together },
    { weight: 1, arbitrary: passing },
    { weight: 4, arbitrary: disturbed },
  ),
  10,
);
