import { randomUUID } from "node:crypto";
import { document } from "../../stack/http.ts";
import { newOrganization } from "../../stack/organization.ts";
import { startStack } from "../../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../../stack/state.ts";
import { type Aim, atLeast } from "../aim.ts";
import { callerOf } from "../caller.ts";
import { seed } from "../seed.ts";
import type { SizedFixture } from "../sized-fixture.ts";
import { median } from "../statistics.ts";
import { print, printTable } from "../table.ts";

/** How many times each write is measured. */
const TURNS = 15;
/** How many rounds of workspace creations are measured. */
const ROUNDS = 7;
const ROUND_MS = 1000;
/** Number of clients that create workspaces concurrently. */
const CREATORS = 8;
/** Lowest permitted ratio of the creation rate with counters to the creation rate without counters. */
const COUNTED = 0.9;
/** Tables and indexes below this size are not printed. */
const SMALL_BYTES = 10 * 1024 ** 2;

type Write = (fixture: SizedFixture, workspaceId: string, turn: number) => Promise<unknown>;

const writes: Readonly<Record<string, Write>> = {
  "lock and unlock": async ({ owner }, id) => {
    await expectStatus(200, owner.api.post(`/workspaces/${id}/actions/lock`));
    await expectStatus(200, owner.api.post(`/workspaces/${id}/actions/unlock`));
  },
  "lock, write state, unlock": ({ owner, state, versions }, id, turn) => {
    const { lineage } = state;
    const next = stateFile({ serial: versions + 1 + turn, lineage, resources: 3 });
    return expectStatus(201, writeState(owner.api, id, next));
  },
  "create a workspace": ({ owner, organization }) =>
    expectStatus(
      201,
      owner.api.post(
        `/organizations/${organization}/workspaces`,
        document("workspaces", { name: `new-${randomUUID()}` }),
      ),
    ),
};

/**
 * Measures the writes of one client, alternating between the fixtures. `factor` is the highest permitted ratio of a
 * write's time in the largest fixture to its time in the smallest.
 */
export async function writesBySize(
  fixtures: readonly SizedFixture[],
  factor: number,
): Promise<Aim[]> {
  const rows: (string | number)[][] = [];
  const aims: Aim[] = [];
  for (const [name, write] of Object.entries(writes)) {
    const times = fixtures.map((): number[] => []);
    // The first turn compiles code and loads pages into memory, so it is not counted.
    for (let turn = 0; turn <= TURNS; turn++) {
      for (const [index, fixture] of fixtures.entries()) {
        const startedAt = performance.now();
        await write(fixture, fixture.workspaceIds[0] ?? "", turn);
        if (turn > 0) times[index]?.push(performance.now() - startedAt);
      }
    }
    const medians = times.map(median);
    const ratio = (medians[0] ?? Number.NaN) / (medians.at(-1) ?? Number.NaN);
    rows.push([name, ...medians, ratio]);
    if (fixtures.length > 1) {
      aims.push(
        atLeast(
          `(g) ${name}, rate of the most workspaces against the fewest`,
          Number((1 / factor).toFixed(2)),
          ratio,
        ),
      );
    }
  }
  printTable(
    "(g) writes by one client, one process, by number of workspaces",
    ["", ...fixtures.map(({ size }) => `${size.toLocaleString("en")}: ms`), "first of last"],
    rows,
  );
  return aims;
}

const sizes = `select c.relname as name, c.relkind = 'i' as index, t.reltuples::bigint::int as rows,
    pg_table_size(c.oid)::float8 as bytes
  from pg_class c
  left join pg_index i on i.indexrelid = c.oid
  join pg_class t on t.oid = coalesce(i.indrelid, c.oid)
  join pg_namespace s on s.oid = c.relnamespace
  where s.nspname = 'public' and c.relkind in ('r', 'i') and pg_table_size(c.oid) > $1
  order by bytes desc`;

/** Prints the sizes of the largest tables and indexes. */
export async function printTableSizes({ stack, size, versions }: SizedFixture): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const database of ["workspaces", "state"] as const) {
    const found = await stack.rows<{ name: string; index: boolean; rows: number; bytes: number }>(
      database,
      sizes,
      [SMALL_BYTES],
    );
    for (const { name, index, rows: count, bytes } of found) {
      rows.push([database, index ? `  ${name}` : name, count, bytes / 1024 ** 2, bytes / count]);
    }
  }
  printTable(
    `(g) tables and indexes with ${size.toLocaleString("en")} workspaces of ${versions} state versions`,
    ["database", "table or index", "rows", "MiB", "bytes a row"],
    rows,
  );
}

/**
 * Measures the creation of workspaces in one project, with and without the counters from which lists read their totals.
 */
export async function counterCost(): Promise<Aim[]> {
  await using counted = await startCreations(true);
  await using uncounted = await startCreations(false);
  const rates = { counted: [] as number[], uncounted: [] as number[] };
  for (let turn = 0; turn <= ROUNDS; turn++) {
    const [first, second] = [await counted.round(), await uncounted.round()];
    if (turn === 0) continue;
    rates.counted.push(first);
    rates.uncounted.push(second);
  }
  const ratios = rates.counted.map((rate, turn) => rate / (rates.uncounted[turn] ?? Number.NaN));
  print(
    `    ${CREATORS} clients create workspaces in one project: ${median(rates.counted).toFixed(0)} a second, ` +
      `${median(rates.uncounted).toFixed(0)} without the counters of totals`,
  );
  return [
    atLeast("(g) creations in one project, of those without counters", COUNTED, median(ratios)),
  ];
}

async function startCreations(counters: boolean) {
  const stack = await startStack({ blobs: "directory", settings: { LOG_LEVEL: "warn" } });
  const { api } = callerOf(stack, await stack.people.newUser());
  const organization = await newOrganization(api);
  if (!counters) {
    await seed(stack.databases.workspaces, ({ sql }) =>
      sql("alter table workspaces disable trigger user"),
    );
  }
  const create = () =>
    expectStatus(
      201,
      api.post(
        `/organizations/${organization}/workspaces`,
        document("workspaces", { name: randomUUID() }),
      ),
    );
  return {
    /** Returns the number of creations per second. */
    async round(): Promise<number> {
      const startedAt = performance.now();
      let created = 0;
      const client = async () => {
        while (performance.now() - startedAt < ROUND_MS) {
          await create();
          created++;
        }
      };
      await Promise.all(Array.from({ length: CREATORS }, client));
      return (created / (performance.now() - startedAt)) * 1000;
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}
