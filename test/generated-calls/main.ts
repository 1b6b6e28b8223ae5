// Calls every operation of the OpenAPI document with generated requests: `npm run test:calls -- --help`.

import process from "node:process";
import { parseArgs } from "node:util";
import { runCommand, StartError } from "@statehouse/runtime";
import { shareDependencies, startDependencies } from "@statehouse/testing";
import { countOf } from "../bench/options.ts";
import { startStack } from "../stack/stack.ts";
import { type CallerName, callerNames, createCallsFixture } from "./fixture.ts";
import { generatedCalls } from "./schemathesis.ts";

const usage = `npm run test:calls -- [--calls 10000] [--as ${callerNames.join(",")}] [--seed 1]
  makes at least --calls generated calls as each caller, on a separate stack for each, and fails if a response has
  status 5xx or a status, header, media type or body that the OpenAPI document does not describe
`;

/** Minimum number of calls that schemathesis derives from the operations' schemas, in addition to random calls. */
const DERIVED = 6_000;
const OPERATIONS = 140;
/** Number of objects of each kind in each of the three organizations. */
const OBJECTS = 6;

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "10000" },
    as: { type: "string", default: callerNames.join(",") },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) process.stdout.write(usage);
else await runCommand("Calling the API", callApi);

async function callApi(print: (line: string) => void): Promise<void> {
  const minimum = countOf("calls", values.calls);
  const seed = countOf("seed", values.seed);
  const names = callersOf(values.as);
  await using started = await startDependencies({ fast: true });
  shareDependencies(started.shared);
  const failed: string[] = [];
  for (const name of names) {
    await using stack = await startStack();
    const { pools, tokens } = await createCallsFixture(stack, OBJECTS);
    const { failures, calls, statuses, operations, succeeded } = await generatedCalls(stack.url, {
      token: tokens[name],
      pools,
      examples: Math.max(1, Math.ceil((minimum - DERIVED) / OPERATIONS)),
      phases: ["examples", "coverage", "fuzzing"],
      seed,
    });
    const shares = [...statuses].toSorted(([a], [b]) => a - b).map(([s, n]) => `${s} ${n}`);
    print(
      `${name}: ${calls} calls of ${operations.size} operations, of which ${succeeded.size} succeeded; responses by status: ${shares.join(", ")}`,
    );
    if (failures !== "") print(failures);
    if (failures !== "" || calls < minimum) failed.push(name);
  }
  if (failed.length > 0) throw new StartError(`The calls as ${failed.join(", ")} failed.`);
}

/** Returns the callers that `--as` names. Throws `StartError` if one of them is unknown. */
function callersOf(text: string): CallerName[] {
  const names = text.split(",");
  const known = callerNames.filter((name) => names.includes(name));
  if (new Set(names).size === known.length) return known;
  const all = callerNames.join(", ");
  throw new StartError(`--as is '${text}'; expected some of ${all}, separated by commas.`);
}
