import { availableParallelism, loadavg } from "node:os";
import { shareParts, startParts } from "@statehouse/testing";
import { type Aim, printAims } from "./aim.ts";
import { type Section, startBench } from "./bench.ts";
import { type Options, readOptions, type SectionName, usage } from "./options.ts";
import { currentStateVersion } from "./sections/current-state-version.ts";
import { requestCost } from "./sections/request-cost.ts";
import { showWorkspace } from "./sections/show-workspace.ts";
import { stateBytes } from "./sections/state-bytes.ts";
import { workspaceList } from "./sections/workspace-list.ts";
import { workspaceLock } from "./sections/workspace-lock.ts";
import { print } from "./table.ts";

const sections: Readonly<Record<SectionName, Section>> = {
  a: showWorkspace,
  b: currentStateVersion,
  c: workspaceList,
  d: stateBytes,
  e: workspaceLock,
  f: requestCost,
};

async function run(options: Options): Promise<void> {
  const startedAt = performance.now();
  sayIfBusy();
  // As an installation has it: commits wait for the disk.
  await using started = await startParts({ fast: false });
  shareParts(started.parts);
  await using bench = await startBench(options, started);
  const aims: Aim[] = [];
  for (const name of options.only) aims.push(...(await sections[name](bench)));
  printAims(aims);
  print(`\n${Math.round((performance.now() - startedAt) / 1000)} s in all`);
}

/** Processes of others take the cores from the larger contender first. */
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
  if (options) await run(options);
  else print(usage);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
