import { randomUUID } from "node:crypto";
import { packed } from "@statehouse/state/domain/packed-extraction";
import { StateFileParser } from "@statehouse/state/domain/state-file-parser";
import { waitFor } from "@statehouse/testing";
import { api, upload } from "../../stack/http.ts";
import { newOrganization } from "../../stack/organization.ts";
import { type Stack, startProcesses, startStack } from "../../stack/stack.ts";
import { announcement, expectStatus, stateFile } from "../../stack/state.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atMost } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { nothingToExtract } from "../state-writer.ts";
import { quantile, sorted } from "../statistics.ts";
import { type Cell, print, printTable } from "../table.ts";

const RESOURCES = 50_000;
const ROUNDS = 8;
/** Size of the state whose extraction is measured alone, in MB. */
const LARGE_MB = 100;
/** Highest permitted CPU time per 10 MB of extracted state, in s. */
const CPU_PER_10_MB = 2;
/** Approximate size of a resource in bytes. */
const RESOURCE_BYTES = 2000;
/** Pause between two requests in ms. There is only one client, and it pauses because this is not a load test. */
const PAUSE_MS = 5;

/** (j) Measures how long a client waits for a workspace while a large state of another workspace is extracted. */
export async function extraction(ground: Ground): Promise<Aim[]> {
  const settings = { blobs: "minio", settings: { LOG_LEVEL: "warn" } } as const;
  const rows: Cell[][] = [];
  const aims: Aim[] = [];
  for (const [name, start] of [
    ["one process", startStack],
    ["four processes", startProcesses],
  ] as const) {
    await using stack = await start(settings);
    const { idle, busy, seconds } = await measure(ground, stack);
    const [before, during] = [quantile(idle, 0.99), quantile(busy, 0.99)];
    rows.push([name, "idle", quantile(idle, 0.5), before, idle.length]);
    rows.push(["", "extracting", quantile(busy, 0.5), during, busy.length, seconds]);
    const what = `(j) p99 of show while ${RESOURCES} resources are extracted, of idle, ${name}`;
    aims.push({ ...atMost(what, 2, during / before), got: (during / before).toFixed(2) });
  }
  printTable(
    `(j) show workspace during the extraction of ${RESOURCES.toLocaleString("en")} resources`,
    ["", "", "p50 ms", "p99 ms", "requests", "extraction s"],
    rows.map((row) => [...row, ...Array.from({ length: 6 - row.length }, () => Number.NaN)]),
  );
  print(
    "    Extraction: from the response to the upload until the version is processed. Requests: one client with pauses.",
  );
  return [...aims, extractionCpu()];
}

/** Measures the CPU time of extracting a large state, in this thread and without the store. */
function extractionCpu(): Aim {
  const count = (LARGE_MB * 1_000_000) / RESOURCE_BYTES;
  const chunks = Array.from({ length: count }, (_, index) =>
    Buffer.from(`${index === 0 ? "" : ","}${largeResource(index)}`),
  );
  const parser = new StateFileParser();
  const before = process.cpuUsage();
  parser.write(Buffer.from('{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":['));
  for (const chunk of chunks) parser.write(chunk);
  parser.write(Buffer.from("]}"));
  const extracted = packed(parser.end(), { id: "k", key: Buffer.alloc(32, 1).toString("base64") });
  const { user, system } = process.cpuUsage(before);
  if (extracted.resourceCount !== count) throw new Error("resources are missing");
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const seconds = ((user + system) / 1e6) * (10_000_000 / bytes);
  const what = `(j) CPU time of extraction for 10 MB, of a state of ${Math.round(bytes / 1e6)} MB`;
  return { ...atMost(what, CPU_PER_10_MB, seconds, " s"), got: `${seconds.toFixed(2)} s` };
}

const largeResource = (index: number): string =>
  JSON.stringify({
    mode: "managed",
    type: index % 3 === 0 ? "aws_s3_bucket" : "aws_instance",
    name: `resource_${index}`,
    provider: 'provider["registry.terraform.io/hashicorp/aws"]',
    instances: [
      {
        schema_version: 1,
        attributes: {
          id: randomUUID(),
          tags: { Name: `n${index}`, Team: `t${index % 7}` },
          disks: [{ size: 10, type: "gp3", encrypted: true, device: "/dev/sda" }],
          description: 'a "quoted" text\n'.repeat(20),
          user_data: "x".repeat(RESOURCE_BYTES - 800),
        },
        dependencies: ["aws_vpc.main", `aws_subnet.s${index % 9}`],
      },
    ],
  });

async function measure(ground: Ground, stack: Stack) {
  const { token } = await stack.people.newUser();
  const caller = api(stack.url, token);
  const organization = await waitFor(() => newOrganization(caller));
  const { id: shown } = await newWorkspaceIn(caller, organization);
  const { id: large } = await newWorkspaceIn(caller, organization);
  await expectStatus(200, caller.post(`/workspaces/${large}/actions/lock`));
  const lineage = randomUUID();
  const push = async (serial: number) => {
    const state = stateFile({ serial, lineage, resources: RESOURCES });
    const path = `/workspaces/${large}/state-versions`;
    const { body } = await expectStatus(201, caller.post(path, announcement(state)));
    await expectStatus(200, upload(body.data.attributes["hosted-state-upload-url"], state.bytes));
  };
  const show = async (seconds: number): Promise<Float64Array> => {
    const { latencies, failures, firstFailure } = await ground.generator.ask({
      origin: stack.url,
      headers: { authorization: `Bearer ${token}` },
      connections: [[{ method: "GET", path: `/api/v2/workspaces/${shown}`, expect: 200 }]],
      pauseMs: PAUSE_MS,
      seconds,
    });
    if (failures > 0) throw new Error(firstFailure);
    return latencies;
  };

  // The first extraction compiles all code; the second one shows how long an extraction takes.
  await show(1);
  let seconds = 0;
  for (const serial of [1, 2]) {
    await push(serial);
    const startedAt = performance.now();
    await nothingToExtract(stack);
    seconds = (performance.now() - startedAt) / 1000;
  }
  const idle: Float64Array[] = [];
  const busy: Float64Array[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    idle.push(await show(seconds));
    await push(round + 3);
    busy.push(await show(seconds));
    await nothingToExtract(stack);
  }
  return { idle: sorted(idle), busy: sorted(busy), seconds };
}
