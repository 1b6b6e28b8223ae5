import fc from "fast-check";
import type { Client } from "./moment.ts";
import type { Action } from "./rules.ts";
import type { Kind } from "./upload.ts";

/**
 * The client that sends a command; `holder` is the client that holds the lock. If no client holds the lock, client 0
 * sends the command, or takes the lock if the command is a write.
 */
export type Author = Client | "holder";

/**
 * Chooses one of the state versions whose status contains `like`; with `any`, or if no status contains it, one of all
 * versions. `nth` is its position among these, counted from the newest, which is 0; after the oldest, counting starts
 * again at the newest.
 */
export interface Pick {
  like: "any" | "pending" | "finalized" | "deleted";
  nth: number;
}

/** An action of one client. */
export type Command =
  | { do: "lock" | "unlock" | "forceUnlock"; by: Author }
  | ({ do: "create"; by: Author } & CreateChoice)
  | { do: "upload"; of: Pick; kind: Kind; bytes: Bytes }
  | { do: "rollBack"; by: Author; to: Pick }
  | { do: Action; by: Client; of: Pick }
  | { do: "retain"; by: Client; deletesOld: boolean }
  | { do: "download"; of: Pick; kind: Kind }
  /** A user of another organization sends several requests for a version and its workspace. */
  | { do: "intrude"; of: Pick };

/**
 * The bytes of an upload. `right`: the announced bytes. `slow`: the announced bytes, with a delay in the middle.
 * `wrong`: other bytes. `partial`: half of the announced bytes, before the connection is closed.
 */
export type Bytes = "right" | "slow" | "wrong" | "partial";

export interface CreateChoice {
  /** The difference from the serial of the newest version. */
  serial: -1 | 0 | 1;
  lineage: "same" | "other" | "none";
  /** Selects one of two different states with the same serial. */
  variant: 0 | 1;
  force: boolean;
  inline: boolean;
  json: boolean;
}

const client = fc.constantFrom<Client>(0, 1);
const author = fc.constantFrom<Author>("holder", "holder", "holder", "holder", 0, 1);
const picking = (...likes: Pick["like"][]) =>
  fc.record({ like: fc.constantFrom(...likes), nth: fc.constantFrom(0, 0, 1, 2) });
/** Picks a finalized version, usually not the newest one. */
const earlier = fc.record({
  like: fc.constant("finalized" as const),
  nth: fc.constantFrom(1, 1, 2),
});
const any = picking("any");
const kind = fc.constantFrom<Kind>("raw", "raw", "json");

export const creation = fc.record({
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

export const locking = fc.record({
  do: fc.constantFrom<"lock" | "unlock" | "forceUnlock">("lock", "unlock", "unlock", "forceUnlock"),
  by: author,
});

export const uploading = fc.record({
  do: fc.constant("upload" as const),
  of: picking("pending", "pending", "pending", "any", "deleted", "deleted"),
  kind,
  bytes: fc.constantFrom<Bytes>("right", "right", "slow", "slow", "wrong", "partial"),
});

export const rolling = fc.record({
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

export const retaining = fc.record({
  do: fc.constant("retain" as const),
  by: client,
  deletesOld: fc.constantFrom(true, true, false),
});

/** Chooses a command. The weights reflect how often each command is possible. */
export const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 1, arbitrary: retaining },
  { weight: 6, arbitrary: creation },
  { weight: 4, arbitrary: uploading },
  { weight: 4, arbitrary: locking },
  { weight: 3, arbitrary: rolling },
  { weight: 5, arbitrary: acting },
  { weight: 1, arbitrary: downloading },
  { weight: 1, arbitrary: intruding },
);
