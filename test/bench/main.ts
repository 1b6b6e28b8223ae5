import { availableParallelism, loadavg } from "node:os";
import { shareDependencies, startDependencies } from "@statehouse/testing";
import { type Aim, failed, printAims } from "./aim.ts";
import { type Options, readOptions, type SectionName, usage } from "./options.ts";
import { events } from "./sections/events.ts";
import { growth } from "./sections/growth.ts";
import { peers } from "./sections/peers.ts";
import { replicas } from "./sections/replicas.ts";
import { requestCost } from "./sections/requests.ts";
import { uploads } from "./sections/uploads.ts";
import { print } from "./table.ts";

/** Measures one section and prints its results; returns its targets. `postgres` is the id of the shared PostgreSQL. */
type Section = (options: Options, postgres: number) => Promise<Aim[]>;

const sections: Readonly<Record<SectionName, Section>> = {
  growth,
  peers,
  requests: requestCost,
  uploads,
  events,
  replicas,
};
/** Sections that measure `npm start`, which starts its own PostgreSQL and NATS. */
const ofStart: readonly SectionName[] = ["growth", "peers", "requests"];

async function run(options: Options): Promise<void> {
  const startedAt = performance.now();
  sayIfBusy();
  const aims: Aim[] = [];
  for (const name of options.only.filter((section) => ofStart.includes(section))) {
    aims.push(...(await surviving(name, () => sections[name](options, 0))));
  }
  const others = options.only.filter((section) => !ofStart.includes(section));
  if (others.length > 0) {
    // Commits wait for the disk, as in a real installation.
    await using started = await startDependencies({ fast: false });
    shareDependencies(started.shared);
    for (const name of others) {
      aims.push(...(await surviving(name, () => sections[name](options, started.postgres.pid))));
    }
  }
  printAims(aims);
  print(`\n${Math.round((performance.now() - startedAt) / 1000)} s in all`);
}

/** Runs a section. If it fails, returns a missed target, so that the results of the other sections are kept. */
async function surviving(name: SectionName, section: () => Promise<Aim[]>): Promise<Aim[]> {
  try {
    return await section();
  } catch (error) {
    process.exitCode = 1;
    return [failed(name, error)];
  }
}

/**
 * Prints a warning if the machine is busy. Other processes would mainly slow down the implementation that needs more
 * CPU time.
 */
function sayIfBusy(): void {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  if (load > cores / 2) {
    print(
      `The machine is busy (load ${load.toFixed(1)} on ${cores} cores): ratios will be too low.`,
    );
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (!options) print(usage);
  else await run(options);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
