import fc from "fast-check";
import {
  type Command,
  command,
  creation,
  locking,
  type Pick,
  retaining,
  rolling,
  uploading,
} from "./command.ts";
import type { Time } from "./rules.ts";

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

/** What happens before the workspace's documents are read again: concurrent commands, or time that passes. */
export type Step =
  | { commands: readonly { command: Command; afterMs: number }[]; fault?: Fault; faultMs?: number }
  | { pass: Time }
  /** Waits until the collector has run; no client acts meanwhile. */
  | { pass: "collection" };

export type History = readonly Step[];

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

/** The beginnings of histories; most of them create some versions. */
const beginnings = fc.constantFrom<History>(
  [],
  [first],
  [first, written(true), written(true)],
  [first, written(false), finished, written(true)],
  [first, written(false), finished, written(true), written(false)],
);

/** Creates a pending version. One or two uploads to it and another command then run concurrently. */
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

/** Sets a retention policy and makes all versions old. Another command then runs, followed by the collector. */
const collected = fc
  .tuple(timed(retaining), timed(command))
  .map(([policy, other]): Step[] => [
    { commands: [policy] },
    { pass: "years" },
    { commands: [other] },
    { pass: "collection" },
  ]);

/** Takes the lock. Two or three commands that lock or unlock then run concurrently. */
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

/** Histories of sequential commands, concurrent commands and steps in which time passes. */
export const undisturbed = histories(
  fc.oneof(
    { weight: 5, arbitrary: alone },
    { weight: 4, arbitrary: together },
    { weight: 1, arbitrary: passing },
  ),
  14,
);

/** Shorter histories of the same kind, with a fault in about a third of the steps. */
export const withFaults = histories(
  fc.oneof(
    { weight: 5, arbitrary: alone },
    { weight: 2, arbitrary: together },
    { weight: 1, arbitrary: passing },
    { weight: 4, arbitrary: disturbed },
  ),
  10,
);
