import { availableParallelism, loadavg } from "node:os";
import { shareDependencies, startDependencies } from "@statehouse/testing";
import { compareWith } from "./against/against.ts";
import { type Aim, failed, printAims } from "./aim.ts";
import { type Ground, type Section, startBench, startGround } from "./bench.ts";
import { type Options, readOptions, type SectionName, usage } from "./options.ts";
import { auditCost } from "./sections/audit-cost.ts";
import { capacity } from "./sections/capacity.ts";
import { collection } from "./sections/collection.ts";
import { currentStateVersion } from "./sections/current-state-version.ts";
import { earlierRelease } from "./sections/earlier-release.ts";
import { eventRelay } from "./sections/event-relay.ts";
import { eventSubjects } from "./sections/event-subjects.ts";
import { extraction } from "./sections/extraction.ts";
import { grants } from "./sections/grants.ts";
import { httpCosts } from "./sections/http-costs.ts";
import { mutualTls } from "./sections/mutual-tls.ts";
import { pauses } from "./sections/pauses.ts";
import { reads } from "./sections/reads.ts";
import { requestCost } from "./sections/request-cost.ts";
import { showWorkspace } from "./sections/show-workspace.ts";
import { stateBytes } from "./sections/state-bytes.ts";
import { stateWrites } from "./sections/state-writes.ts";
import { versionSizes } from "./sections/version-sizes.ts";
import { workspaceList } from "./sections/workspace-list.ts";
import { workspaceLock } from "./sections/workspace-lock.ts";
import { workspaceSizes } from "./sections/workspace-sizes.ts";
import { print } from "./table.ts";

/** Sections that measure one process and four processes with the same data. */
const onBoth = {
  a: showWorkspace,
  b: currentStateVersion,
  c: workspaceList,
  d: stateBytes,
  e: workspaceLock,
  f: requestCost,
} satisfies Partial<Record<SectionName, Section>>;

/**
 * Sections that start their own stacks. They run after the two common stacks have ended, because all stacks together
 * would need too many PostgreSQL connections.
 */
const onTheirOwn = {
  g: workspaceSizes,
  h: grants,
  i: stateWrites,
  j: extraction,
  k: versionSizes,
  l: collection,
  m: mutualTls,
  n: eventSubjects,
  o: capacity,
  p: httpCosts,
  q: pauses,
  r: auditCost,
  s: eventRelay,
  t: reads,
  u: earlierRelease,
} satisfies Partial<Record<SectionName, Section<Ground>>>;

async function run(options: Options): Promise<void> {
  const startedAt = performance.now();
  sayIfBusy();
  // Commits wait for the disk, as in a real installation.
  await using started = await startDependencies({ fast: false });
  shareDependencies(started.shared);
  await using ground = startGround(options, started);
  const aims = [...(await onBothStacks(ground)), ...(await onStacksOfTheirOwn(ground))];
  printAims(aims);
  print(`\n${Math.round((performance.now() - startedAt) / 1000)} s in all`);
}

async function onBothStacks(ground: Ground): Promise<Aim[]> {
  const names = wanted(onBoth, ground);
  if (names.length === 0) return [];
  await using bench = await startBench(ground);
  const aims: Aim[] = [];
  for (const name of names) aims.push(...(await surviving(name, () => onBoth[name](bench))));
  return aims;
}

async function onStacksOfTheirOwn(ground: Ground): Promise<Aim[]> {
  const aims: Aim[] = [];
  for (const name of wanted(onTheirOwn, ground)) {
    aims.push(...(await surviving(name, () => onTheirOwn[name](ground))));
  }
  return aims;
}

const wanted = <Name extends SectionName>(
  sections: Readonly<Record<Name, unknown>>,
  { options }: Ground,
): Name[] => (Object.keys(sections) as Name[]).filter((name) => options.only.includes(name));

/** Runs a section. If it fails, returns a missed target, so that the results of the other sections are kept. */
async function surviving(name: SectionName, section: () => Promise<Aim[]>): Promise<Aim[]> {
  try {
    return await section();
  } catch (error) {
    process.exitCode = 1;
    return [failed(`(${name})`, error)];
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
  else if (options.against) await compareWith(options.against, options);
  else await run(options);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
