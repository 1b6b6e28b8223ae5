import { execFile } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { findPythonProgram, missingPythonEnvironment } from "@statehouse/local-services";
import type { Pools } from "./fixture.ts";

const run = promisify(execFile);

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];

/**
 * Operations that remove the caller's access, or objects that other calls need. They are called last: renaming or
 * deleting the organization, deleting the token, suspending the user.
 */
const final = [
  "patchOrganizationsByOrganizationName",
  "deleteOrganizationsByOrganizationName",
  "deleteAuthenticationTokensByTokenId",
  "patchAccountUpdate",
  "postAdminUsersByUserIdActionsSuspend",
  "postAdminUsersByUserIdActionsRevokeAdmin",
];
const withoutFinal = final.flatMap((id) => ["--exclude-operation-id", id]);

/** The operations in the order of their calls: operations that delete objects come after operations that need them. */
const rounds = [
  ["--exclude-method", "DELETE", ...withoutFinal],
  ["--include-method", "DELETE", ...withoutFinal],
  final.flatMap((id) => ["--include-operation-id", id]),
];

export interface Calls {
  /** The token of the calls; undefined for calls without a token. */
  readonly token: string | undefined;
  readonly pools: Pools;
  /** Number of generated requests for each operation. */
  readonly examples: number;
  /**
   * The kinds of requests: `examples` uses the document's examples, `coverage` derives requests from the schemas, and
   * `fuzzing` generates random requests.
   */
  readonly phases: readonly ("examples" | "coverage" | "fuzzing")[];
  readonly seed: number;
}

export interface Report {
  /** The output of the rounds with failed checks, which names the calls that reproduce the failures. */
  readonly failures: string;
  readonly calls: number;
  /** The number of responses by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** The operations that were called. */
  readonly operations: ReadonlySet<string>;
  /** The operations that succeeded at least once. */
  readonly succeeded: ReadonlySet<string>;
}

/**
 * Calls, with generated requests, every operation of the OpenAPI document that `url` serves. A failure is a 5xx
 * response, or a status, header, media type or body that the document does not describe.
 */
export async function generatedCalls(url: string, calls: Calls): Promise<Report> {
  const program = findPythonProgram("schemathesis", "schemathesis");
  if (!program) throw new Error(missingPythonEnvironment("schemathesis"));
  const folder = mkdtempSync(path.join(tmpdir(), "schemathesis-"));
  const report = {
    failures: "",
    calls: 0,
    statuses: new Map<number, number>(),
    operations: new Set<string>(),
    succeeded: new Set<string>(),
  };
  try {
    const pools = path.join(folder, "pools.json");
    writeFileSync(pools, JSON.stringify(calls.pools));
    for (const [round, filters] of rounds.entries()) {
      const events = path.join(folder, `${round}.ndjson`);
      const options = [...filters, "--report-ndjson-path", events];
      const failures = await runRound(program, folder, url, calls, options);
      if (failures !== undefined) report.failures += failures;
      await count(events, report);
    }
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs schemathesis once. Returns its output if a check failed, otherwise undefined. */
async function runRound(
  program: string,
  folder: string,
  url: string,
  { token, examples, phases, seed }: Calls,
  options: readonly string[],
): Promise<string | undefined> {
  const args = [
    ...["run", `${url}/openapi/stable.json`, "--url", url],
    ...(token === undefined ? [] : ["--header", `Authorization: Bearer ${token}`]),
    ...["--checks", checks.join(","), "--phases", phases.join(",")],
    ...["--max-examples", String(examples), "--seed", String(seed)],
    // With several threads, Python 3.11 can fail with "AST constructor recursion depth mismatch".
    ...["--workers", "1"],
    // A slow generation on a busy machine is not a failure of the API.
    ...["--suppress-health-check", "all", "--warnings", "off", "--request-timeout", "60"],
    ...["--continue-on-failure", "--no-shrink", "--generation-database", "none", "--no-color"],
    ...["--report", "ndjson", ...options],
  ];
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: path.join(import.meta.dirname, "hooks.py"),
    STATEHOUSE_POOLS: path.join(folder, "pools.json"),
    STATEHOUSE_SEED: String(seed),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  try {
    await run(program, args, { cwd: folder, env, maxBuffer: 2 ** 28 });
    return undefined;
  } catch (error) {
    const output = (name: string) => String(Reflect.get(Object(error), name) ?? "");
    return `${output("stdout")}\n${output("stderr")}\n`;
  }
}

interface Scenario {
  ScenarioFinished?: {
    recorder: {
      label: string;
      interactions?: Record<string, { response?: { status_code: number } | null }>;
    };
  };
}

interface Counts {
  calls: number;
  statuses: Map<number, number>;
  operations: Set<string>;
  succeeded: Set<string>;
}

/** Counts the calls of a round from the events that schemathesis wrote, one per line. */
async function count(events: string, counts: Counts): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(events) })) {
    const { ScenarioFinished: scenario }: Scenario = JSON.parse(line);
    if (!scenario) continue;
    const { label, interactions = {} } = scenario.recorder;
    counts.operations.add(label);
    for (const { response } of Object.values(interactions)) {
      const status = response?.status_code ?? 0;
      counts.calls += 1;
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
      if (status >= 200 && status < 300) counts.succeeded.add(label);
    }
  }
}
