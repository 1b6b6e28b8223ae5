import { randomUUID } from "node:crypto";
import { freshBucket, minioClient, objectNames, waitFor } from "@statehouse/testing";
import { api } from "../../stack/http.ts";
import { newOrganization } from "../../stack/organization.ts";
import { type Stack, startProcesses } from "../../stack/stack.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import { type Aim, atLeast, atMost } from "../aim.ts";
import { contentOf } from "../content.ts";
import type { Options } from "../options.ts";
import { growthOf, processMicros } from "../processes.ts";
import { nothingToExtract, startWriter, type Writer, type WriteTimes } from "../state-writer.ts";
import { median } from "../statistics.ts";
import { type Cell, print, printTable } from "../table.ts";
import { closeIdle, get, put } from "../transfer.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const CLIENTS = [1, 8, 32] as const;
/**
 * Largest number of bytes that the clients may write concurrently. With more bytes, the measurement would show the
 * speed of the disk instead of the speed of Statehouse.
 */
const MOST_BYTES = 4 * 1024 * MIB;
/** Highest permitted growth of the state service's memory, in MiB. */
const MOST_GROWTH = 64;

/** `writes` is the number of writes of each client in a round, for each number of clients; `rounds` is the most rounds. */
const sizes = [
  { name: "1 KiB", bytes: KIB, writes: [40, 10, 4], rounds: 5 },
  { name: "10 KiB", bytes: 10 * KIB, writes: [40, 10, 4], rounds: 5 },
  { name: "1 MiB", bytes: MIB, writes: [20, 5, 2], rounds: 5, aim: 0.6 },
  { name: "10 MiB", bytes: 10 * MIB, writes: [6, 2, 1], rounds: 4, aim: 0.6 },
  { name: "100 MiB", bytes: 100 * MIB, writes: [2, 1, 1], rounds: 2, aim: 0.8 },
  { name: "1 GiB", bytes: 1024 * MIB, writes: [1, 1, 1], rounds: 2, aim: 0.8 },
] as const;

/**
 * Measures how fast concurrent clients create, upload, read and download state versions, compared with the same number
 * of direct PUTs and GETs to the same MinIO.
 */
export async function uploads({ largestMebibytes, seconds }: Options): Promise<Aim[]> {
  await using stack = await startProcesses({ blobs: "minio", settings: { LOG_LEVEL: "warn" } });
  const writers = await startWriters(stack, Math.max(...CLIENTS));
  await using raw = await freshBucket();
  const client = minioClient(raw);
  const kept = stack.environments.state.S3_BUCKET ?? "";
  const statePid = stack.processes.state.pid();
  const empty = async () => {
    await nothingToExtract(stack);
    closeIdle();
    for (const bucket of [raw.bucket, kept]) {
      await client.removeObjects(bucket, await objectNames(client, bucket));
    }
  };
  const rows: Cell[][] = [];
  const aims: Aim[] = [];
  for (const { name, bytes, writes, rounds, ...size } of sizes) {
    if (bytes > largestMebibytes * MIB) continue;
    const content = contentOf(bytes, randomUUID());
    const transferRaw = async () => {
      const object = randomUUID();
      const uploaded = await put(await client.presignedPutObject(raw.bucket, object), content);
      const url = await client.presignedGetObject(raw.bucket, object);
      return { upload: uploaded, download: await get(url, content.size) };
    };
    for (const [index, clients] of CLIENTS.entries()) {
      if (bytes * clients > MOST_BYTES) continue;
      const writing = writers.slice(0, clients);
      const each = writes[index] ?? 1;
      const all: WriteTimes[] = [];
      const ratios = { write: [] as number[], upload: [] as number[], download: [] as number[] };
      const cpu: number[] = [];
      let growth = 0;
      // The first round opens connections and compiles code, so its results are not used.
      for (let round = 0; round <= Math.min(rounds, seconds); round++) {
        await empty();
        const direct = await together(writing, each, transferRaw);
        let own: WriteTimes[] = [];
        const before = processMicros(statePid);
        const grown = await growthOf(statePid, async () => {
          own = await together(writing, each, (writer) => writer.write(content));
        });
        if (round === 0) continue;
        const part = (what: keyof WriteTimes) => median(own.map((times) => times[what]));
        const upload = median(direct.map((times) => times.upload));
        ratios.write.push(upload / (part("create") + part("upload") + part("current")));
        ratios.upload.push(upload / part("upload"));
        ratios.download.push(median(direct.map((times) => times.download)) / part("download"));
        cpu.push((processMicros(statePid) - before) / 1000 / own.length);
        growth = Math.max(growth, grown);
        all.push(...own);
      }
      const part = (what: keyof WriteTimes) => median(all.map((times) => times[what]));
      rows.push([
        ...[name, clients, part("create"), part("upload"), part("current"), part("download")],
        ...[median(ratios.write), median(ratios.upload), median(ratios.download)],
        ...[median(cpu), growth / MIB],
      ]);
      const what = `${name}, clients: ${clients}`;
      if ("aim" in size) {
        aims.push(atLeast(`${what}, write, of a raw PUT`, size.aim, median(ratios.write)));
      }
      if (bytes >= 10 * MIB) {
        const least = clients === 1 ? 0.9 : 0.75;
        aims.push(
          atLeast(`${what}, upload, of a raw PUT`, least, median(ratios.upload)),
          atMost(`${what}, growth of state's memory`, MOST_GROWTH, growth / MIB, " MiB"),
        );
      }
    }
  }
  await empty();
  printTable(
    "uploads: medians of the requests in ms, of raw PUTs and GETs to the same MinIO",
    [
      ...["size", "clients", "create", "upload", "current", "download"],
      ...["write of raw", "upload of raw", "download of raw"],
      ...["CPU ms", "RSS +MiB"],
    ],
    rows,
  );
  print(
    "    CPU and RSS: of the state process; the CPU time is that of one write and its download, with what follows them.",
  );
  return aims;
}

async function startWriters(stack: Stack, count: number): Promise<Writer[]> {
  const { token } = await stack.people.newUser();
  const caller = api(stack.url, token);
  const organization = await waitFor(() => newOrganization(caller));
  const writers: Writer[] = [];
  for (let index = 0; index < count; index++) {
    const { id } = await newWorkspaceIn(caller, organization);
    writers.push(await startWriter({ url: stack.url, token }, id));
  }
  return writers;
}

/** Runs concurrent clients, each of which writes repeatedly; returns the times of all writes. */
async function together<Times>(
  writers: readonly Writer[],
  each: number,
  write: (writer: Writer) => Promise<Times>,
): Promise<Times[]> {
  const times: Times[] = [];
  await Promise.all(
    writers.map(async (writer) => {
      for (let turn = 0; turn < each; turn++) times.push(await write(writer));
    }),
  );
  return times;
}
