import { expectWhole } from "../faults/check.ts";
import { startFaultFixture } from "../faults/fixture.ts";
import { brokenPromises } from "../faults/truth.ts";
import { startStack } from "../stack/stack.ts";
import { openEnvironment } from "./environment.ts";
import { disturbing } from "./faults.ts";
import { search } from "./search.ts";
import { undisturbed, withFaults } from "./step.ts";

/** Where a search for failing histories starts, and how long it runs. */
export interface Range {
  seed: number;
  path?: string | undefined;
  forMs: number;
}

export interface Found {
  histories: number;
  commands: number;
}

const LANES = 4;
/** Settings of the services with which the collector runs every second, so that retention affects the histories. */
const collecting = { COLLECTION_INTERVAL: "1" };

/**
 * Runs concurrent clients with all services in one process. At the end, the rows of the state service must be
 * consistent.
 */
const inOneProcess =
  (edition: "self-hosted" | "hosted", blobs: "directory" | "minio") =>
  async ({ forMs, ...range }: Range): Promise<Found> => {
    await using stack = await startStack({ blobs, settings: { ...collecting, EDITION: edition } });
    const environment = await openEnvironment(stack, { hosted: edition === "hosted" });
    const until = Date.now() + forMs;
    await search({ environment, histories: undisturbed, lanes: LANES, until, ...range });
    const rows = async <Row extends object>(
      database: string,
      sql: string,
      params: readonly unknown[] = [],
    ) => (database === "state" ? environment.query<Row>(sql, params) : []);
    const broken = await brokenPromises({ rows });
    if (broken.length > 0) throw new Error(`seed ${range.seed}: ${broken.join("\n")}`);
    return environment.count;
  };

/** Runs the four services as processes, which are killed and partitioned. At the end, all confirmed data must exist. */
const withFaultsBetween =
  (store: "directory" | "minio") =>
  async ({ forMs, ...range }: Range): Promise<Found> => {
    await using fixture = await startFaultFixture({ store, settings: collecting });
    const environment = await openEnvironment(fixture.stack, { owned: fixture });
    const until = Date.now() + forMs;
    const disturb = disturbing(fixture);
    await search({ environment, histories: withFaults, disturb, lanes: 1, until, ...range });
    await expectWhole(fixture);
    return environment.count;
  };

/** The settings in which histories run, by name. */
export const settings = {
  "self-hosted": inOneProcess("self-hosted", "directory"),
  "self-hosted, MinIO": inOneProcess("self-hosted", "minio"),
  hosted: inOneProcess("hosted", "directory"),
  faults: withFaultsBetween("directory"),
  "faults, MinIO": withFaultsBetween("minio"),
} as const satisfies Record<string, (range: Range) => Promise<Found>>;

export type SettingName = keyof typeof settings;
