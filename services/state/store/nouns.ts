import type { Database, EntityManager, Sealer } from "@statehouse/postgres";
import { blobs } from "./blob.ts";
import { blobDeletions } from "./blob-deletion.ts";
import { contents } from "./contents.ts";
import { extractions } from "./extraction.ts";
import { organizationBilling } from "./organization-billing.ts";
import { retention } from "./retention.ts";
import { scans } from "./scan.ts";
import { stateVersions } from "./state-version.ts";
import { stateVersionOutputs } from "./state-version-output.ts";
import { workspaceResources } from "./workspace-resource.ts";
import { workspaceStates } from "./workspace-state.ts";

/**
 * Every noun of the store, and nothing else lists them. Each has some of: `entity`, its ORM schema; `rows`, its part of
 * a transaction; `reads`, single statements outside any transaction that change nothing; `leases`, single statements
 * outside any transaction that take work for one replica.
 */
const nouns = {
  workspaceStates,
  stateVersions,
  stateVersionOutputs,
  workspaceResources,
  blobs,
  blobDeletions,
  contents,
  extractions,
  retention,
  scans,
  organizationBilling,
};

type Nouns = typeof nouns;
type Part = "rows" | "reads" | "leases";
type Made<Key extends Part> = {
  [Name in keyof Nouns as Nouns[Name] extends Record<Key, unknown>
    ? Name
    : never]: Nouns[Name] extends Record<Key, (...given: never[]) => infer Methods>
    ? Methods
    : never;
};

/** The rows of a transaction: `tx.<noun>`. */
export type Rows = Made<"rows">;
/** `app.reads.<noun>` */
export type Reads = Made<"reads">;
/** `app.leases.<noun>` */
export type Leases = Made<"leases">;

export const entities = Object.values(nouns).flatMap((noun) =>
  "entity" in noun ? [noun.entity] : [],
);

export const createRows = (em: EntityManager, sealer: Sealer) => make("rows", em, sealer) as Rows;

export const createReads = (database: Database, sealer: Sealer) =>
  make("reads", database, sealer) as Reads;

export const createLeases = (database: Database) => make("leases", database) as Leases;

const make = (part: Part, ...given: unknown[]): object =>
  Object.fromEntries(
    Object.entries<Partial<Record<Part, unknown>>>(nouns).flatMap(([name, noun]) => {
      const create = noun[part] as ((...given: unknown[]) => object) | undefined;
      return create ? [[name, create(...given)]] : [];
    }),
  );
